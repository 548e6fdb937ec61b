package model

// InUse tells whether any block records a pod's address or a tunnel's: nobody but
// Calico's IPAM writes those.
func (v *View) InUse() bool {
	for i := range v.s.Blocks {
		for j := range v.s.Blocks[i].Attributes {
			if at := &v.s.Blocks[i].Attributes[j]; at.Pod != "" || at.Tunnel() {
				return true
			}
		}
	}
	return false
}

// Annotated tells whether Calico's CNI plugin has written on any pod.
func (v *View) Annotated() bool {
	for i := range v.s.Pods {
		if v.s.Pods[i].Annotation == Written {
			return true
		}
	}
	return false
}

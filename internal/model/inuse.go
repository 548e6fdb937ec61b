package model

// InUse reports whether any block records an address of a pod or a tunnel: only Calico IPAM
// writes those.
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

// Annotated reports whether Calico's CNI plugin has annotated any pod.
func (v *View) Annotated() bool {
	for i := range v.s.Pods {
		if v.s.Pods[i].Annotation == Written {
			return true
		}
	}
	return false
}

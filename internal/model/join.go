package model

// Join sets the sandbox of each attachment by the inode of its network namespace.
func Join(as []Attachment, boxes []Sandbox) {
	of := make(map[uint64]string, len(boxes))
	for _, s := range boxes {
		if s.Inode != 0 && !s.HostNetwork {
			of[s.Inode] = s.ID
		}
	}
	for i := range as {
		as[i].Sandbox = of[as[i].Inode]
	}
}

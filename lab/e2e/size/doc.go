// Package size measures check on clusters of many nodes and pods, which are written
// directly into etcd with known faults. It compares check with the bare download of the
// bytes that it reads, with calicoctl ipam check, and with client-go's paged lists. It
// needs the lab and is built with the tag e2e.
package size

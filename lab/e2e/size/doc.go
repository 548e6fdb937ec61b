// Package size measures check on clusters of many nodes and pods, which are written
// straight into etcd with known faults: against the bare download of the bytes that it
// reads, Calico's own check, and client-go's paged lists. It needs the lab and is built
// with the tag e2e.
package size

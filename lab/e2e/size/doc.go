// Package size checks a cluster of many nodes and pods that was written straight into
// etcd, with known faults. It needs the lab and is built with the tag e2e.
package size

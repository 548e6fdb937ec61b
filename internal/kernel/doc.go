// Package kernel reads what the node's kernel has of the pod network: devices, routes,
// rules, neighbours, settings, and what is inside the pods' network namespaces. It runs in
// the host's network namespace, asks by netlink and procfs, and changes nothing.
package kernel

// Package kernel reads what the node's kernel has of the pod network: devices, routes,
// rules, neighbours, settings, and what is inside the pods' network namespaces. It runs in
// the host's network namespace, and asks by netlink and procfs. It can change a few of
// them, one at a time, each read again in the same breath.
package kernel

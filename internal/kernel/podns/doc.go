// Package podns reads network namespaces other than the host's from outside: a thread
// enters one only to open a netlink socket. It never enters a mount namespace, never runs
// anything there, and holds no namespace longer than its read takes: an open namespace does
// not end.
package podns

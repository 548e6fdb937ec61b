// Package podns reads what is inside network namespaces that are not the host's, from
// outside: a thread steps into one for as long as it takes to open a netlink socket. It
// never enters a mount namespace, never runs anything there, and holds no namespace
// longer than the reading of it takes: one that is held does not end.
package podns

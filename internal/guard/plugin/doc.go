// Package plugin is the CNI plugin that stands in front of the network's own: it keeps
// a record of who owns what, hands every call to the plugin that it wraps, and gives back
// what that one said, byte for byte. Whatever goes wrong with itself, the call is handed
// on as if it were not there.
package plugin

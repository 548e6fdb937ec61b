// Package plugin is the CNI plugin that wraps the network's own plugin: it keeps the
// ownership record, passes every call to the wrapped plugin and returns its answer byte for
// byte. If the guard itself fails, the call is passed on as if the guard were not there.
package plugin

// Package machines tries what namespaces cannot show: nodes that are emulated machines
// with their own kernel, systemd, journal and cgroup v2. It needs the lab and a machine
// (lab build --machine debian12), and is built with the tag e2e.
package machines

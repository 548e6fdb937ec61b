package stage

import (
	"strings"

	"plumbline.dev/plumbline/lab/load"
)

// NamesOf returns the names of the findings that Plumbline must report for a loaded
// fault.
func NamesOf(f load.Fault) []string {
	switch f.Kind {
	case load.Leaked:
		return []string{"PL1001/" + f.Subject}
	case load.Unallocated:
		return []string{"PL1002/" + f.Subject}
	case load.OrphanHandle, load.MiscountedHandle, load.MissingHandle:
		return []string{"PL1006/" + f.Handle}
	case load.NoAnnotation:
		return []string{"PL2001/" + f.Pod}
	case load.StaleEndpoint:
		ns, pod, _ := strings.Cut(f.Pod, "/")
		return []string{"PL2002/" + ns + "/" + strings.ReplaceAll(f.Node, "-", "--") + "-k8s-" + strings.ReplaceAll(pod, "-", "--") + "-eth0"}
	case load.SharedAddress:
		return []string{"PL2010/" + f.Subject}
	case load.WrongNode:
		return []string{"PL1003/" + f.Subject}
	case load.GoneNodeAffinity:
		return []string{"PL1007/" + f.Node + "/" + f.Subject}
	case load.BadIndex:
		return []string{"PL1004/" + f.Subject, "PL5002/kube-controllers/crashes"}
	case load.Finished:
	}
	return nil
}

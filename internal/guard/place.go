package guard

// Files of the guard. Dir is on a tmpfs: like the pod network of the node, the records end
// with a reboot.
const (
	Dir        = "/run/plumbline/guard"
	ModeFile   = "mode"     // below it: observe, enforce or off
	KindFile   = "delegate" // below it: the type of the plugin that is wrapped on this node
	EventDir   = "events"   // below it: the plugin's event log, until the guard daemon copies it to disk
	OwnersDir  = "owners"   // below it: the ownership record
	StatusFile = "status"   // below it: the Report of the guard daemon
	Marker     = ".removed" // suffix of the program's path: the guard is off, and the program stays only because a file still names it
)

// LastModeFile is the last mode that was configured and known. It survives a reboot, and tells the
// plugin its mode until the guard daemon runs.
const LastModeFile = "/var/lib/plumbline/guard.mode"

// OffFile below Dir shows that the environment of the container runtime switches the guard off
// (PLUMBLINE_GUARD=off). The plugin creates it, and removes it when that is over.
const OffFile = "off-by-environment"

// ProbeVariable in the environment asks the program for its CNI versions without the wrapped plugin: the
// guard daemon does so all the time, to know that the program runs, and Calico's takes longer to start.
const ProbeVariable = "PLUMBLINE_PROBE"

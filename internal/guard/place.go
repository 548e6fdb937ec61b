package guard

// Where the guard keeps what it knows. It does not outlive a boot, as nothing does that
// it is about.
const (
	Dir        = "/run/plumbline/guard"
	ModeFile   = "mode"     // below it: observe, enforce or off
	KindFile   = "delegate" // below it: the type of the plugin that is wrapped on this node
	EventDir   = "flight"   // below it: what happened, until the agent takes it
	OwnersDir  = "owners"   // below it: who owns what
	StatusFile = "status"   // below it: the keeper's Report
	Marker     = ".removed" // after the name of the program: it is only here because somebody still names it
)

package observe

import (
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// Heard takes one event of a watch: the current object or, if it is gone, its last state.
// The object is only valid during the call. It returns the object's revision.
type Heard func(object []byte, gone bool) (revision string, err error)

// KindReservation is the kind of an IPReservation; only watches use it.
const KindReservation model.Kind = "reservation"

// The refs of tables with one row.
var (
	ClusterRef   = model.Ref{Kind: model.KindCluster, Name: "cluster"}
	CollectorRef = model.Ref{Kind: model.KindCollector, Name: "collector"}
)

// Now is the local time at which a change is received.
func Now() time.Time {
	return time.Now() //nolint:forbidigo // latency from the event to the finding; never an age
}

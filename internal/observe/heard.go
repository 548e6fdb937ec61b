package observe

import (
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// Heard takes one event of a watch: an object as it is now, or, if it is gone, as it was
// last. The object is only valid during the call. It gives the object's revision.
type Heard func(object []byte, gone bool) (revision string, err error)

// KindReservation names a reservation, which is followed and which nothing else names.
const KindReservation model.Kind = "reservation"

// The rows that there are one of.
var (
	ClusterRef   = model.Ref{Kind: model.KindCluster, Name: "cluster"}
	CollectorRef = model.Ref{Kind: model.KindCollector, Name: "collector"}
)

// Now is when a change was received.
func Now() time.Time {
	return time.Now() //nolint:forbidigo // from the event to the verdict; never an age
}

package check

import (
	"reflect"

	"plumbline.dev/plumbline/internal/cluster"
)

// Documents are the kinds that this package prints.
var Documents = map[string]reflect.Type{
	"CheckReport":  reflect.TypeFor[cluster.CheckReport](),
	"FleetReport":  reflect.TypeFor[FleetReport](),
	"StatusReport": reflect.TypeFor[statusReport](),
}

package explain

import (
	"reflect"

	"plumbline.dev/plumbline/internal/cluster"
)

// Documents are the kinds that this package prints. What is known of an object has the form of a report.
var Documents = map[string]reflect.Type{
	"CodePage":           reflect.TypeFor[codePage](),
	"Lookup":             reflect.TypeFor[lookup](),
	"WayExplanation":     reflect.TypeFor[wayDocument](),
	"AddressExplanation": reflect.TypeFor[cluster.CheckReport](),
	"BlockExplanation":   reflect.TypeFor[cluster.CheckReport](),
	"FindingExplanation": reflect.TypeFor[cluster.CheckReport](),
	"HandleExplanation":  reflect.TypeFor[cluster.CheckReport](),
	"NodeExplanation":    reflect.TypeFor[cluster.CheckReport](),
	"PodExplanation":     reflect.TypeFor[cluster.CheckReport](),
}

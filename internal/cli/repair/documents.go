package repair

import (
	"reflect"

	"plumbline.dev/plumbline/internal/cluster"
)

// Documents are the kinds that this package prints.
var Documents = map[string]reflect.Type{
	"Plan":        reflect.TypeFor[cluster.PlanDocument](),
	"History":     reflect.TypeFor[history](),
	"PlanHistory": reflect.TypeFor[planHistory](),
}

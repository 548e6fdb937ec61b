package guard

import (
	"reflect"
)

// Documents are the kinds that this package prints.
var Documents = map[string]reflect.Type{
	"GuardStatus":      reflect.TypeFor[status](),
	"GuardLog":         reflect.TypeFor[callLog](),
	"GuardExplanation": reflect.TypeFor[explanation](),
}

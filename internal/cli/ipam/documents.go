package ipam

import (
	"reflect"
)

// Documents are the kinds that this package prints.
var Documents = map[string]reflect.Type{
	"IPAMDiff": reflect.TypeFor[document](),
}

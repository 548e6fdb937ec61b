package timeline

import (
	"reflect"
)

// Documents are the kinds that this package prints.
var Documents = map[string]reflect.Type{
	"TimelineReport":  reflect.TypeFor[report](),
	"TimelineSummary": reflect.TypeFor[summary](),
}

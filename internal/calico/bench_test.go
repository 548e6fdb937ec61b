package calico

import (
	"fmt"
	"strings"
	"testing"
)

// handleItem is a handle as an API server sends it, of the length of real ones.
func handleItem() []byte {
	id := "k8s-pod-network." + strings.Repeat("0123456789abcdef", 4)
	fields := strings.Repeat(`"f:spec":{".":{},"f:block":{".":{},"f:10.128.0.0/26":{}},"f:deleted":{},"f:handleID":{}},`, 3)
	return fmt.Appendf(nil, `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"annotations":{"projectcalico.org/metadata":"{\"creationTimestamp\":null}"},"creationTimestamp":"2026-11-15T04:13:21Z","generation":1,"managedFields":[{"apiVersion":"crd.projectcalico.org/v1","fieldsType":"FieldsV1","fieldsV1":{%s"x":{}},"manager":"calico","operation":"Update","time":"2026-11-15T04:13:21Z"}],"name":%q,"resourceVersion":"487","uid":"a7cba7d0-4000-4e2a-8fd3-fd185890d949"},"spec":{"block":{"10.244.166.128/26":1},"deleted":false,"handleID":%q}}`, fields, id, id)
}

func BenchmarkHandle(b *testing.B) {
	item := handleItem()
	b.SetBytes(int64(len(item)))
	b.ReportAllocs()
	keep := newArena()
	for b.Loop() {
		if _, err := keptRow("ipamhandles", item, keep, handleRow); err != nil {
			b.Fatal(err)
		}
	}
}

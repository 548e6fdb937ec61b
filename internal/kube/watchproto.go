package kube

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoWire is Kubernetes' protobuf. A frame is a WatchEvent, which wraps the object in the
// same envelope as a list.
var protoWire = wire{
	accept: acceptProto + ";stream=watch", frames: lengthFrames, event: protoEvent,
	revision: protoRevision, failure: protoFailure,
}

var magic = []byte("k8s\x00")

func protoEvent(frame []byte) (event, error) {
	kind, err := inside(frame, watchEventFieldType)
	if err != nil {
		return event{}, err
	}
	e := event{kind: string(kind)}
	wrapped, err := inside(frame, watchEventFieldObject)
	if err != nil {
		return e, err
	}
	raw, err := inside(wrapped, rawExtensionFieldRaw)
	if err != nil {
		return e, err
	}
	raw, ok := bytes.CutPrefix(raw, magic)
	if !ok {
		return e, errors.New("not Kubernetes' protobuf")
	}
	e.object, err = inside(raw, unknownFieldRaw)
	return e, err
}

// inside is a field that is a message or text; nil if it does not exist.
func inside(b []byte, want protowire.Number) ([]byte, error) {
	var out []byte
	err := fields(b, func(num protowire.Number, v []byte, _ uint64) {
		if num == want {
			out = v
		}
	})
	return out, err
}

// protoRevision reads metadata.resourceVersion, which all objects have there.
func protoRevision(object []byte) (string, error) {
	meta, err := inside(object, objectFieldMetadata)
	if err != nil {
		return "", err
	}
	revision, err := inside(meta, metaFieldResourceVersion)
	return string(revision), err
}

// protoFailure reads a Status.
func protoFailure(object []byte) failure {
	var f failure
	var said []byte
	err := fields(object, func(num protowire.Number, v []byte, n uint64) {
		switch int(num) {
		case statusFieldMessage:
			said = v
		case statusFieldDetails:
			_ = fields(v, func(num protowire.Number, _ []byte, n uint64) {
				if num == statusDetailsFieldRetryAfterSeconds {
					f.after = time.Duration(int32(n)) * time.Second
				}
			})
		case statusFieldCode:
			f.code = int(int32(n))
		}
	})
	if err != nil {
		return failure{why: err}
	}
	f.why = fmt.Errorf("%d: %s", f.code, Readable(string(said)))
	return f
}

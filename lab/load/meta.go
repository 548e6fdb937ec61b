package load

import (
	"bytes"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
)

// encoder writes core objects as the API server stores them: protobuf in an envelope
// that has their type.
var encoder = protobuf.NewSerializer(nil, nil)

// stored is a core object of this kind as the API server stores it.
func stored(key, kind string, o runtime.Object) (put, error) {
	o.GetObjectKind().SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	var b bytes.Buffer
	if err := encoder.Encode(o, &b); err != nil {
		return put{}, fmt.Errorf("encode %s: %w", key, err)
	}
	return put{key, b.Bytes()}, nil
}

// managed is an entry of managedFields.
func managed(manager, subresource, fields string, at time.Time) metav1.ManagedFieldsEntry {
	t := metav1.NewTime(at)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &t,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
	}
}

// storedNamespace is an active namespace.
func storedNamespace(name, uid string, created time.Time) (put, error) {
	return stored("/registry/namespaces/"+name, "Namespace", &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(uid), CreationTimestamp: metav1.NewTime(created), Labels: map[string]string{corev1.LabelMetadataName: name},
			ManagedFields: []metav1.ManagedFieldsEntry{
				managed("kubectl-create", "", `{"f:metadata":{"f:labels":{".":{},"f:kubernetes.io/metadata.name":{}}}}`, created),
			},
		},
		Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	})
}

// quantity parses an amount, and keeps its text: encoding would format it each time.
func quantity(text string) resource.Quantity {
	q := resource.MustParse(text)
	_ = q.String()
	return q
}

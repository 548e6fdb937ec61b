//go:build e2e

package size

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// paged reads collections with client-go as controllers do: 500 at a time, one
// collection after the other, typed and in protobuf where Kubernetes has types. It
// stores nothing, and has no client-side rate limit, which by default would take far
// longer.
func paged(ctx context.Context, j job) (int64, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", j.Kubeconfig)
	if err != nil {
		return 0, err
	}
	cfg.QPS = -1
	core, err := coreClient(cfg)
	if err != nil {
		return 0, err
	}
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return 0, err
	}
	var items int64
	for _, path := range j.Lists {
		o := metav1.ListOptions{Limit: 500}
		for more := true; more; more = o.Continue != "" {
			n, next, err := page(ctx, core, dyn, path, o)
			if err != nil {
				return items, fmt.Errorf("list %s: %w", path, err)
			}
			items += int64(n)
			o.Continue = next
		}
	}
	return items, nil
}

func page(ctx context.Context, core *rest.RESTClient, dyn dynamic.Interface, path string, o metav1.ListOptions) (items int, next string, err error) {
	ask := func(into runtime.Object) error {
		return core.Get().AbsPath(path).VersionedParams(&o, metav1.ParameterCodec).Do(ctx).Into(into)
	}
	switch path {
	case "/api/v1/pods":
		var l corev1.PodList
		err = ask(&l)
		return len(l.Items), l.Continue, err
	case "/api/v1/nodes":
		var l corev1.NodeList
		err = ask(&l)
		return len(l.Items), l.Continue, err
	case "/api/v1/services":
		var l corev1.ServiceList
		err = ask(&l)
		return len(l.Items), l.Continue, err
	}
	var of schema.GroupVersionResource
	switch part := strings.Split(strings.Trim(path, "/"), "/"); len(part) {
	case 3:
		of = schema.GroupVersionResource{Version: part[1], Resource: part[2]}
	case 4:
		of = schema.GroupVersionResource{Group: part[1], Version: part[2], Resource: part[3]}
	default:
		return 0, "", fmt.Errorf("%q is not a collection of the whole cluster", path)
	}
	l, err := dyn.Resource(of).List(ctx, o)
	if err != nil {
		return 0, "", err
	}
	return len(l.Items), l.GetContinue(), nil
}

func coreClient(cfg *rest.Config) (*rest.RESTClient, error) {
	s := runtime.NewScheme()
	if err := corev1.AddToScheme(s); err != nil {
		return nil, err
	}
	own := rest.CopyConfig(cfg)
	own.APIPath, own.GroupVersion = "/api", &corev1.SchemeGroupVersion
	own.ContentType, own.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	own.NegotiatedSerializer = serializer.NewCodecFactory(s).WithoutConversion()
	return rest.RESTClientFor(own)
}

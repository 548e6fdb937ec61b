package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func TestSelectsPod(t *testing.T) {
	t.Parallel()
	has := labels.Set{"app": "db", "tier": "back"}
	for selector, want := range map[string]bool{
		`{}`:                            true,
		`{"matchLabels":{"app":"db"}}`:  true,
		`{"matchLabels":{"app":"web"}}`: false,
		`{"matchExpressions":[{"key":"tier","operator":"In","values":["back","middle"]}]}`: true,
		`{"matchExpressions":[{"key":"tier","operator":"NotIn","values":["back"]}]}`:       false,
		`{"matchExpressions":[{"key":"none","operator":"DoesNotExist"}]}`:                  true,
	} {
		name, selects, err := selectsPod([]byte(`{"metadata":{"name":"p"},"spec":{"podSelector":`+selector+`}}`), has)
		if err != nil || name != "p" || selects != want {
			t.Errorf("%s: %v, %v", selector, selects, err)
		}
	}
	for _, bad := range []string{``, `[]`, `{"spec":{"podSelector":{"matchExpressions":[{"key":"x","operator":"Near"}]}}}`} {
		if _, selects, err := selectsPod([]byte(bad), has); err == nil || selects {
			t.Errorf("%q is read", bad)
		}
	}
}

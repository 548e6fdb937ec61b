//go:build e2e

package release

import (
	"context"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// viewers look at the controller's UI: readers see the finding about the pod default/freed, and somebody who may list pods
// of another namespace only sees that namespace, and nothing of that pod.
func (u user) viewers(ip string) {
	u.t.Helper()
	ctx := u.t.Context()
	u.kubectl("create", "namespace", "elsewhere")
	u.kubectl("-n", "elsewhere", "create", "serviceaccount", "viewer")
	u.kubectl("-n", "elsewhere", "create", "rolebinding", "viewer", "--clusterrole=view", "--serviceaccount=elsewhere:viewer")
	u.kubectl("create", "clusterrole", "sees-pages", "--verb=get", "--resource=pages.plumbline.dev")
	u.kubectl("create", "clusterrolebinding", "sees-pages", "--clusterrole=sees-pages", "--serviceaccount=elsewhere:viewer")
	u.kubectl("-n", "elsewhere", "create", "serviceaccount", "stranger")
	u.t.Cleanup(func() {
		ctx := context.WithoutCancel(ctx)
		_, _ = u.l.Kubectl(ctx, "delete", "namespace", "elsewhere", "--wait=false")
		_, _ = u.l.Kubectl(ctx, "delete", "clusterrole/sees-pages", "clusterrolebinding/sees-pages")
	})
	s := &stage.Stage{Lab: u.l, Namespace: "elsewhere", Tell: func(line string) { u.t.Log(line) }}
	if _, err := s.Run(ctx, stage.PodSpec{Name: "ours", Node: "node2"}); err != nil {
		u.t.Fatal(err)
	}
	all, some := u.ui(), u.ui("--account", "elsewhere/viewer")
	paths := []string{"", "findings", "finding?name=PL1002/" + ip, "pod?name=default/freed", "address?ip=" + ip, "map.json?ip=" + ip, "node?name=node1", "node?name=node2", "find?q=freed", "pod?name=elsewhere/ours"}
	read := map[string]int{}
	for _, path := range paths {
		err := lab.Eventually(ctx, 20*time.Second, func(ctx context.Context) error {
			time.Sleep(time.Second) // for the budget of reviews
			everything, err := all.Get(ctx, path)
			if err != nil {
				return err
			}
			want := map[bool]string{true: "elsewhere/ours", false: "freed"}[strings.Contains(path, "ours") || strings.Contains(path, "node2")]
			return stage.Expect(path == "" || strings.Contains(everything, want) || strings.Contains(everything, ip), "readers to see %s in /%s, got %.600s", want, path, everything)
		})
		if err != nil {
			u.t.Error(err)
		}
		page, err := some.Get(ctx, path)
		if err == nil {
			read[path] = len(page)
		}
		asked := strings.Contains(path, "freed") // the answer names what was asked for
		if strings.Contains(page, "default/freed") && !asked || strings.Contains(page, "FREE in") {
			u.t.Errorf("/%s shows a pod of another namespace: %s", path, page)
		}
		if path == "pod?name=elsewhere/ours" && !strings.Contains(page, "elsewhere/ours") {
			u.t.Errorf("the viewer does not see its own pod: %v %s", err, page)
		}
	}
	u.t.Logf("pages that the viewer of one namespace got, in bytes: %v", read)
	cmd := u.command(ctx, "ui", "--from-controller", "--account", "elsewhere/stranger")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "may not get pages") {
		u.t.Errorf("an account without the right: %v %s", err, out)
	}
	u.kubectl("delete", "namespace", "elsewhere", "--timeout=90s")
}

func (u user) ui(args ...string) *product.UI {
	u.t.Helper()
	page := product.StartUI(u.t, u.command(u.t.Context(), append([]string{"ui", "--from-controller"}, args...)...))
	if err := page.Enter(u.t.Context()); err != nil {
		u.t.Fatal(err)
	}
	return page
}

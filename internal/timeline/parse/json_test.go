package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// Kubernetes Events as the API writes them; besides one table of 2019 none was recorded.
func TestEvents(t *testing.T) {
	t.Parallel()
	killing := `{"kind":"Event","apiVersion":"v1","metadata":{"name":"db-0.1","namespace":"shop"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"db-0","uid":"` + uid + `"},"reason":"FailedKillPod","message":"error killing pod: failed to \"KillPodSandbox\"","source":{"component":"kubelet","host":"n1"},"firstTimestamp":"2026-11-15T10:00:00Z","lastTimestamp":"2026-11-15T10:31:56Z","count":4,"type":"Warning"}`
	node := `{"apiVersion":"events.k8s.io/v1","regarding":{"kind":"Node","name":"n2"},"reason":"NodeNotReady","note":"Node n2 status is now: NodeNotReady","eventTime":"2026-11-15T10:31:56.123456Z","series":null,"kind":"Event"}`
	compare(t, []toldCase{
		{"one", killing + "\n", []string{`events: pod kill failed node=n1 pod=shop/db-0 uid=07cbebe7-7fb note=error killing pod: failed to "KillPodSandbox" count=4`}},
		{"list", `{"apiVersion":"v1","kind":"List","items":[` + killing + `,` + node + `]}` + "\n", []string{
			`events: pod kill failed node=n1 pod=shop/db-0 uid=07cbebe7-7fb note=error killing pod: failed to "KillPodSandbox" count=4`,
			"events: node not ready node=n2 note=Node n2 status is now: NodeNotReady",
		}},
		{"list cut off", `{"apiVersion":"v1","kind":"List","items":[` + node + `,{"involvedObject":}` + "\n", []string{"events: node not ready node=n2 note=Node n2 status is now: NodeNotReady"}},
		{"mounted", `{"involvedObject":{"kind":"Pod","namespace":"shop","name":"db-0"},"reason":"SuccessfulMountVolume","message":"MountVolume.SetUp succeeded"}` + "\n", nil},
		{"not mounted", `{"involvedObject":{"kind":"Pod","namespace":"shop","name":"db-0"},"reason":"FailedMount","message":"configmap not found"}` + "\n", nil},
		{"no network", `{"involvedObject":{"kind":"Pod","namespace":"shop","name":"db-0"},"reason":"FailedCreatePodSandBox","message":"Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \"` + idA + `\": no"}` + "\n", []string{
			`events: ADD failed pod=shop/db-0 sandbox=340b1c7a1a90 note=Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "` + idA + `": no`,
		}},
	})
}

// Policies differ in what they record: without a body only the other fields are used.
func TestAuditWithoutBodies(t *testing.T) {
	t.Parallel()
	line := func(verb, user, object, body string, code int) string {
		return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","stage":"ResponseComplete","requestURI":"/","verb":%q,"user":{"username":%q},"userAgent":"x/1 (linux)","objectRef":%s,"responseStatus":{"code":%d}%s,"stageTimestamp":"2026-11-15T10:31:56.5Z"}`, verb, user, object, code, body) + "\n"
	}
	pod := `{"resource":"pods","namespace":"shop","name":"db-0"}`
	compare(t, []toldCase{
		{"patched by somebody", line("patch", "calico", `{"resource":"pods","namespace":"shop","name":"db-0","subresource":"status"}`, "", 200), nil},
		{"deleted", line("delete", "admin", pod, "", 200), []string{"audit: pod terminating pod=shop/db-0 note=delete by admin with x/1"}},
		{"not found", line("delete", "admin", pod, "", 404), nil},
		{"by the kubelet", line("delete", "system:node:n1", pod, `,"requestObject":{"gracePeriodSeconds":0,"preconditions":{"uid":"`+uid+`"}}`, 200), []string{
			"audit: pod gone node=n1 pod=shop/db-0 uid=07cbebe7-7fb note=delete by system:node:n1 with x/1, grace period 0",
		}},
		{"annotations nulled", line("patch", "calico", pod, `,"requestObject":{"metadata":{"annotations":{"cni.projectcalico.org/podIP":null}}}`, 200), []string{
			"audit: endpoint deleted pod=shop/db-0 object=annotations of pod shop/db-0 note=patch by calico with x/1",
		}},
		{"unreachable", line("patch", "node-controller", `{"resource":"nodes","name":"n1"}`, `,"requestObject":{"spec":{"taints":[{"key":"node.kubernetes.io/unreachable"}]}}`, 200), []string{
			"audit: node not ready node=n1 note=patch by node-controller with x/1",
		}},
	})
}

// Lines are those that internal/eventlog itself writes.
func TestEventLogLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec, err := eventlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	row := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	at := time.Date(2026, 11, 15, 10, 31, 56, 0, time.UTC)
	ready := model.Sandbox{ID: idA, Namespace: "shop", Pod: "db-0", UID: uid, Ready: true}
	stopped := ready
	stopped.Ready = false
	if err := rec.Append(
		eventlog.Entry{At: at, By: "agent", What: "new", Of: "sandboxes", Name: idA, Now: row(ready)},
		eventlog.Entry{At: at, By: "agent", What: "new", Of: "containers", Name: idB, Now: row(model.Container{ID: idB, Sandbox: idA, State: "running"})},
		eventlog.Entry{At: at, By: "agent", What: "changed", Of: "attachments", Name: "x", Was: row(model.Attachment{Sandbox: idA, Device: "eth0"}), Now: row(model.Attachment{Sandbox: idA})},
		eventlog.Entry{At: at, By: "agent", What: "new", Of: "links", Name: "cali1", Now: row(model.Link{Name: "cali1"})},
		eventlog.Entry{At: at, By: "agent", What: "changed", Of: "sandboxes", Name: idA, Was: row(ready), Now: row(stopped)},
		eventlog.Entry{At: at, By: "agent", What: "gone", Of: "sandboxes", Name: idA, Was: row(stopped)},
		eventlog.Entry{At: at, By: "agent", What: "changed", Of: "mounts", Name: "m", Was: row(model.Mount{Target: "/data"}), Now: row(model.Mount{Target: "/data", Silent: true})},
		eventlog.Entry{At: at, By: "agent", What: "new", Of: "machines", Name: "m", Now: row(model.Machine{CalicoName: "n1"})},
	); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dir + "/00000000.events")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"eventlog: sandbox created pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
		"eventlog: container started pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90 container=d4186da55842",
		"eventlog: pod without interface pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90 note=the agent recorded that interface eth0 disappeared",
		"eventlog: sandbox stopped pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
		"eventlog: sandbox removed pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
		"eventlog: mount timeout object=/data",
		"eventlog: node named object=n1",
	}
	heading := `{"format":"plumbline.dev/eventlog","version":3}`
	newer := fmt.Sprintf("%08x %s\n", crc32.ChecksumIEEE([]byte(heading)), heading)
	f := timeline.File{}
	New(&f, nil).Parse(&records.Record{Style: records.JSON, Text: []byte(newer)})
	if len(f.Left) != 1 || !strings.Contains(f.Left[0], "event log of version 3, supported is 2") {
		t.Errorf("a newer version: left %q", f.Left)
	}
	compare(t, []toldCase{
		{"whole", string(b), want},
		{"version 1, without a heading", string(b[bytes.IndexByte(b, '\n')+1:]), want},
		{"a newer version", newer + string(b[bytes.IndexByte(b, '\n')+1:]), nil},
		{"a line that was changed", string(bytes.Replace(b, []byte(`"pod":"db-0"`), []byte(`"pod":"db-9"`), 1)), append([]string{
			"eventlog: container started sandbox=340b1c7a1a90 container=d4186da55842",
			"eventlog: pod without interface sandbox=340b1c7a1a90 note=the agent recorded that interface eth0 disappeared",
		}, want[3:]...)},
	})
}

// The lines that `kubectl describe` prints above its table show the pod.
func TestTableOfDescribe(t *testing.T) {
	t.Parallel()
	compare(t, []toldCase{{"today", `Name:             db-0
Namespace:        shop
Node:             n1/192.168.77.11
Containers:
  main:
    Container ID:   containerd://` + idB + `
Volumes:
  data:
    Name:      other
Events:
  Type     Reason         Age                From     Message
  ----     ------         ----               ----     -------
  Warning  FailedKillPod  9s (x4 over 6m)    kubelet  error killing pod: failed to "KillPodSandbox"
`, []string{`events: pod kill failed node=n1 pod=shop/db-0 note=error killing pod: failed to "KillPodSandbox" count=4`}}})
}

func eventLine(entry string) string {
	return fmt.Sprintf("%08x %s", crc32.ChecksumIEEE([]byte(entry)), entry)
}

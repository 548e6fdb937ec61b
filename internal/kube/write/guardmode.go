package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// GuardConfigMap has the guard's mode, and modes of single nodes.
const GuardConfigMap = "plumbline-guard"

// GuardOff switches the guard off on all nodes, unless the ConfigMap changes meanwhile. It can
// send nothing else. changed is false if the guard was off before.
func GuardOff(ctx context.Context, c *kube.Client, namespace string) (changed bool, err error) {
	if err := kube.CheckNames(namespace); err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	at := "/api/v1/namespaces/" + namespace + "/configmaps/" + GuardConfigMap
	sender, err := c.Sender(func(method, path string) bool {
		return path == at && (method == http.MethodGet || method == http.MethodPut)
	})
	if err != nil {
		return false, err
	}
	send := func(method string, body []byte) ([]byte, error) {
		resp, err := sender.Send(ctx, kube.Request{Method: method, Path: at, Accept: kube.AcceptJSON, Body: body})
		if err != nil {
			return nil, err
		}
		return kube.ReadBody(resp.Body)
	}
	b, err := send(http.MethodGet, nil)
	if errors.Is(err, observe.ErrNotThere) {
		return false, fmt.Errorf("%w; without it guards keep their mode: kubectl -n %s create configmap %s --from-literal=mode=off", err, namespace, GuardConfigMap)
	}
	if err != nil {
		return false, err
	}
	b, changed, err = switchedOff(b)
	if err != nil || !changed {
		return false, err
	}
	_, err = send(http.MethodPut, b)
	return err == nil, err
}

// switchedOff sets the mode of a ConfigMap to off and removes those of single nodes, and leaves
// everything else as it is, its resource version too.
func switchedOff(object []byte) (out []byte, changed bool, err error) {
	var cm, data map[string]json.RawMessage
	if err := json.Unmarshal(object, &cm); err != nil {
		return nil, false, err
	}
	if raw, there := cm["data"]; there {
		if err := json.Unmarshal(raw, &data); err != nil {
			return nil, false, err
		}
	}
	if data == nil {
		data = map[string]json.RawMessage{}
	}
	const off = `"off"`
	changed = string(data["mode"]) != off
	data["mode"] = json.RawMessage(off)
	for key := range data {
		if strings.HasPrefix(key, "mode.") {
			delete(data, key)
			changed = true
		}
	}
	if cm["data"], err = json.Marshal(data); err != nil {
		return nil, false, err
	}
	out, err = json.Marshal(cm)
	return out, changed, err
}

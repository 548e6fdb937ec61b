package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"plumbline.dev/plumbline/internal/kube"
)

// probePod is the pod of a probe. It has the agent's rights on the node (deploy/repair.yaml
// explains each) except those for following events, and none in Kubernetes.
func probePod(p Probe) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"generateName": probePrefix, "namespace": p.Namespace,
			"labels": map[string]string{"app.kubernetes.io/name": "plumbline", "app.kubernetes.io/component": "probe"},
		},
		"spec": map[string]any{
			"nodeName":      p.Node, // bypasses the scheduler: this node must be read
			"restartPolicy": "Never", "activeDeadlineSeconds": probeSeconds, "terminationGracePeriodSeconds": 1,
			"hostNetwork": true, "hostPID": true, "dnsPolicy": "Default",
			"automountServiceAccountToken": false, "enableServiceLinks": false,
			"tolerations": []any{map[string]any{"operator": "Exists"}},
			"containers": []any{map[string]any{
				"name": "probe", "image": p.Image, "imagePullPolicy": "IfNotPresent",
				"command": []string{"/plumbline-agent", "snapshot", "--text", "--root=/proc/1/root"},
				"env":     []any{map[string]any{"name": "NODE_NAME", "value": p.Node}},
				"resources": map[string]any{
					"requests": map[string]string{"cpu": "10m", "memory": "32Mi"}, "limits": map[string]string{"memory": "256Mi"},
				},
				"securityContext": map[string]any{
					"privileged": false, "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "runAsUser": 0, "runAsGroup": 0,
					"capabilities":    map[string]any{"drop": []string{"ALL"}, "add": []string{"SYS_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH"}},
					"seccompProfile":  map[string]any{"type": "RuntimeDefault"},
					"appArmorProfile": map[string]any{"type": "Unconfined"},
					"seLinuxOptions":  map[string]any{"type": "spc_t"},
				},
			}},
		},
	}
}

// A probed is the status of a probe's pod.
type probed struct {
	Metadata kube.ObjectMeta `json:"metadata"`
	Status   struct {
		Phase             string `json:"phase"`
		Reason            string `json:"reason"`
		Message           string `json:"message"`
		ContainerStatuses []struct {
			State struct {
				Waiting *struct {
					Reason  string `json:"reason"`
					Message string `json:"message"`
				} `json:"waiting"`
				Terminated *struct {
					ExitCode int    `json:"exitCode"`
					Message  string `json:"message"`
				} `json:"terminated"`
			} `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

func readAnswer(body io.ReadCloser) (probed, error) {
	b, err := kube.ReadBody(body)
	if err != nil {
		return probed{}, err
	}
	return readProbe(b)
}

func readProbe(b []byte) (probed, error) {
	var o probed
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("read the probe's pod: %w", err)
	}
	if o.Metadata.Name == "" || o.Metadata.UID == "" {
		return o, errors.New("the probe's pod has no name")
	}
	return o, nil
}

// ended reports whether the probe has finished, or why it never will.
func (o *probed) ended() (bool, error) {
	s := &o.Status
	switch s.Phase {
	case "Succeeded":
		return true, nil
	case "Failed":
		why := s.Reason + " " + s.Message
		for _, k := range s.ContainerStatuses {
			if t := k.State.Terminated; t != nil {
				why += fmt.Sprintf(" exit code %d %s", t.ExitCode, t.Message)
			}
		}
		return false, fmt.Errorf("the probe pod failed: %s", kube.Readable(why))
	}
	for _, k := range s.ContainerStatuses {
		w := k.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason { // a longer wait does not help
		case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError":
			return false, fmt.Errorf("the probe pod does not start: %s", kube.Readable(w.Reason+" "+w.Message))
		}
	}
	return false, nil
}

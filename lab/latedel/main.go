// Command latedel runs in front of the real Calico CNI plugin and makes DEL behave as in
// 2017 (cni-plugin v1.5.0), when endpoints and addresses were found by the pod's name
// and not by the sandbox:
//
//   - ADD passes through;
//   - a DEL for a pod name that now belongs to another sandbox is executed for
//     the old sandbox and for the owner's;
//   - a DEL without an endpoint fails, so the kubelet retries it without end.
//
// It is installed as "calico", with the real plugin beside it as "calico.real".
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// endpoints maps each pod name to the sandbox that owns its endpoint.
	endpoints = "/run/latedel"
	maxConfig = 1 << 20
)

func main() {
	code, err := run()
	if err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"cniVersion": "0.3.1", "code": 999, "msg": err.Error()})
		code = 1
	}
	os.Exit(code)
}

func run() (int, error) {
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		fmt.Println("v1.5.0")
		return 0, nil
	}
	config, err := io.ReadAll(io.LimitReader(os.Stdin, maxConfig))
	if err != nil {
		return 1, fmt.Errorf("read the network configuration: %w", err)
	}
	id := os.Getenv("CNI_CONTAINERID")
	record := filepath.Join(endpoints, filepath.Base(podName(os.Getenv("CNI_ARGS"))))
	switch os.Getenv("CNI_COMMAND") {
	case "ADD":
		code, err := plugin(config, os.Stdout)
		if err != nil || code != 0 {
			return code, err
		}
		if err := os.MkdirAll(endpoints, 0o755); err != nil {
			return 1, err
		}
		return 0, os.WriteFile(record, []byte(id), 0o644)
	case "DEL":
		return del(config, record, id)
	default:
		return plugin(config, os.Stdout)
	}
}

func del(config []byte, record, id string) (int, error) {
	owner, err := os.ReadFile(record)
	if errors.Is(err, fs.ErrNotExist) {
		return 1, fmt.Errorf("resource does not exist: WorkloadEndpoint(workload=%s)", filepath.Base(record))
	}
	if err != nil {
		return 1, err
	}
	if code, err := plugin(config, os.Stdout); err != nil || code != 0 {
		return code, err
	}
	if string(owner) != id {
		// In 2017 this was one deletion by name: it removed the endpoint and the address and did
		// not touch the network namespace of the pod that owned them.
		if code, err := plugin(config, io.Discard, "CNI_CONTAINERID="+string(owner), "CNI_NETNS="); err != nil || code != 0 {
			return code, err
		}
	}
	return 0, os.Remove(record)
}

// plugin runs the real plugin with the same input.
func plugin(config []byte, out io.Writer, env ...string) (int, error) {
	cmd := exec.Command(filepath.Join(filepath.Dir(os.Args[0]), "calico.real"))
	cmd.Args[0] = "calico" // it selects its role by this name
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(config), out, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// podName returns NAMESPACE.POD from the runtime's arguments.
func podName(args string) string {
	v := map[string]string{}
	for kv := range strings.SplitSeq(args, ";") {
		k, val, _ := strings.Cut(kv, "=")
		v[k] = val
	}
	return v["K8S_POD_NAMESPACE"] + "." + v["K8S_POD_NAME"]
}

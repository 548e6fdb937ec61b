package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"plumbline.dev/plumbline/internal/guard"
)

// CNI error codes.
const (
	badEnvironment   = 4
	badIO            = 5
	badConfiguration = 7
	tryAgainLater    = 11
	internal         = 999
)

// errNoMode means that neither the guard daemon nor an earlier one has left a mode.
var errNoMode = errors.New("no mode is known: the call is only observed")

// Main answers one call and returns the exit code.
func Main(w World) int {
	w.withDefaults()
	verb := lookup(w.Env, "CNI_COMMAND")
	if verb == "" {
		return w.refuse("", badEnvironment, errors.New("CNI_COMMAND is not set: this program is a CNI plugin and is started by the container runtime"))
	}
	config, err := io.ReadAll(io.LimitReader(w.Stdin, maxConfig+1))
	switch {
	case err != nil:
		return w.refuse("", badIO, fmt.Errorf("read the network configuration: %w", err))
	case len(config) > maxConfig:
		return w.refuse("", badConfiguration, errors.New("the network configuration is longer than 8 MiB"))
	case verb == "VERSION":
		return w.tell("", w.version(config))
	}
	e, err := parseEntry(config)
	if err != nil {
		version := ""
		if e != nil {
			version = e.version
		}
		return w.refuse(version, badConfiguration, err)
	}
	mode, known := w.mode()
	s := &session{
		World: &w, entry: e, call: parseCall(w.Env, e.network),
		delegate: delegate{kind: e.kind, path: lookup(w.Env, "CNI_PATH"), env: w.Env}, as: mode,
	}
	if !known {
		s.trouble("read the mode", errNoMode)
	}
	ctx, stop := s.limited()
	defer stop()
	return w.tell(e.version, s.serve(ctx))
}

// limited bounds a call, in enforce only: in other modes the guard ends no plugin.
func (s *session) limited() (context.Context, context.CancelFunc) {
	switch {
	case s.as != guard.Enforce:
		return context.WithCancel(context.Background())
	case s.call.Verb == guard.Add:
		return context.WithTimeout(context.Background(), s.addPatience)
	default:
		return context.WithTimeout(context.Background(), s.patience)
	}
}

// tell returns the delegate's answer to the caller unchanged.
func (w *World) tell(version string, a *answer) int {
	_, _ = w.Stderr.Write(a.said)
	if a.trouble != nil {
		return w.refuse(version, tryAgainLater, a.trouble)
	}
	if _, err := w.Stdout.Write(a.out); err != nil && a.code == 0 {
		return 1
	}
	return a.code
}

// refuse answers with an error of the guard itself.
func (w *World) refuse(version string, code int, err error) int {
	_, _ = w.Stdout.Write(refusal(version, code, err))
	return 1
}

func refusal(version string, code int, err error) []byte {
	if version == "" {
		version = "0.3.1"
	}
	b, _ := json.Marshal(struct {
		Version string `json:"cniVersion"`
		Code    int    `json:"code"`
		Msg     string `json:"msg"`
	}{version, code, "plumbline-cni: " + err.Error()})
	return append(b, '\n')
}

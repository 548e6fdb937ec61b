package plugin

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test program is three: the tests, the guard and a delegate that does what its own
// configuration says. It knows which by the name that it is called by.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case ourType:
		guardMain()
	case "scripted", "calico", "calico-ipam":
		scriptedMain()
	default:
		atOnce(8)
		os.Exit(m.Run())
	}
}

// atOnce runs so many tests at once, unless somebody said how many: most of them wait for
// processes, and not for a core.
func atOnce(n int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// An act is what the delegate does on one verb.
type act struct {
	Out   string `json:"out,omitempty"`
	Raw   []byte `json:"raw,omitempty"` // output that is no text
	Err   string `json:"err,omitempty"`
	Code  int    `json:"code,omitempty"`
	Sleep int    `json:"sleep,omitempty"` // milliseconds
	Until string `json:"until,omitempty"` // it goes on when this file exists, or after a minute
	Child bool   `json:"child,omitempty"` // leaves one that holds its files open for a minute
	Die   int    `json:"die,omitempty"`   // by this signal
	Many  int    `json:"many,omitempty"`  // bytes of output
	Half  bool   `json:"half,omitempty"`  // what it does to its store is done before it sleeps, or fails
}

// A script is what the delegate is given as part of its configuration.
type script struct {
	Log   string         `json:"log"` // a directory that it writes its calls into
	Acts  map[string]act `json:"acts"`
	Store *store         `json:"store,omitempty"`
}

// A heard is one call as the delegate saw it.
type heard struct {
	Kind  string
	Env   []string
	Stdin string
	PID   int
	Child int
}

func scriptedMain() {
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		_ = os.WriteFile(os.Args[0]+".asked", []byte("for its version"), 0o600)
		os.Exit(answerVersion(word(os.Args[0] + ".version")))
	}
	if os.Getenv("SCRIPTED_CHILD") != "" {
		time.Sleep(time.Minute)
		return
	}
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(99)
	}
	var conf struct {
		Script script `json:"script"`
	}
	_ = json.Unmarshal(in, &conf)
	verb := os.Getenv("CNI_COMMAND")
	a := conf.Script.Acts[verb]
	h := heard{Kind: filepath.Base(os.Args[0]), Env: os.Environ(), Stdin: string(in), PID: os.Getpid()}
	if a.Child {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "SCRIPTED_CHILD=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			os.Exit(98)
		}
		h.Child = cmd.Process.Pid
	}
	if conf.Script.Log != "" {
		b, _ := json.Marshal(h)
		name := fmt.Sprintf("%d-%s-%d", time.Now().UnixNano(), verb, os.Getpid()) //nolint:forbidigo // the calls are put in order
		_ = os.WriteFile(filepath.Join(conf.Script.Log, "."+name), b, 0o600)
		_ = os.Rename(filepath.Join(conf.Script.Log, "."+name), filepath.Join(conf.Script.Log, name))
	}
	if a.Half {
		conf.Script.Store.do(verb, os.Environ())
	}
	time.Sleep(time.Duration(a.Sleep) * time.Millisecond)
	for i := 0; a.Until != "" && word(a.Until) == "" && i < 6000; i++ {
		time.Sleep(10 * time.Millisecond)
	}
	if !a.Half && a.Code == 0 {
		conf.Script.Store.do(verb, os.Environ())
	}
	_, _ = os.Stdout.Write(a.Raw)
	fmt.Fprint(os.Stdout, a.Out, strings.Repeat("x", a.Many))
	fmt.Fprint(os.Stderr, a.Err)
	if a.Die != 0 {
		_ = syscall.Kill(os.Getpid(), syscall.Signal(a.Die))
		time.Sleep(time.Second)
	}
	os.Exit(a.Code)
}

// singleBinary marks the version of a program that answers as Calico 3.33 was recorded to: one
// program for all components, which is a CNI plugin only if CNI_COMMAND is set.
const singleBinary = "single binary "

// answerVersion answers -v in the shape of a version: those before 3.33 ignore CNI_COMMAND, and
// one without a version fails.
func answerVersion(version string) (code int) {
	version, single := strings.CutPrefix(version, singleBinary)
	switch {
	case version == "":
		fmt.Fprintln(os.Stderr, "no version")
		return 1
	case single && os.Getenv("CNI_COMMAND") == "":
		fmt.Fprintln(os.Stderr, "Error: unknown shorthand flag: 'v' in -v")
		return 1
	}
	fmt.Fprintln(os.Stdout, version)
	return 0
}

// guardMain is the plugin as a process; the environment says where it is to break.
func guardMain() {
	w := World{Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: os.Args[0], Dir: os.Getenv("TEST_DIR"), LastMode: os.Getenv("TEST_DIR") + ".last-mode"}
	w.Now = time.Now //nolint:forbidigo // here it is a program
	if d, err := time.ParseDuration(os.Getenv("TEST_PATIENCE")); err == nil {
		w.patience, w.addPatience = d, d
	}
	if d, err := time.ParseDuration(os.Getenv("TEST_CLOCK")); err == nil { // it is set by so much
		w.Now = func() time.Time { return time.Now().Add(d) } //nolint:forbidigo // here it is a program
	}
	if d, err := time.ParseDuration(os.Getenv("TEST_AHEAD")); err == nil { // so much later
		w.boot = func() (time.Duration, error) {
			now, err := sinceBoot()
			return now + d, err
		}
	}
	if d, err := time.ParseDuration(os.Getenv("TEST_BOOTED")); err == nil { // so long ago
		w.boot = func() (time.Duration, error) { return d, nil }
	}
	point, how, _ := strings.Cut(os.Getenv("TEST_BREAK"), ":")
	w.reach = func(at string) {
		switch {
		case at != point:
		case how == "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Minute)
		default:
			panic("as the test asked at " + at)
		}
	}
	if len(os.Args) > 1 {
		os.Exit(Replay(w))
	}
	os.Exit(Main(w))
}

package build

import (
	"fmt"
	"strings"
)

// The versions that a lab can run, the default first. Each of the others has a module of its own
// below lab/build/versions and is built only when it is asked for.
var (
	CalicoVersions     = []string{"v3.31.0", "v3.30.1", "v3.29.0", "v3.27.0", "v3.26.0", "v3.25.0", "v3.23.0", "v3.22.0"}
	KubernetesVersions = []string{"v1.34.4", "v1.36.3", "v1.30.14"}
)

// Version returns the one of the versions that is named, as v3.27.0, 3.27.0 or 3.27; the default
// if none is.
func Version(of []string, name string) (string, error) {
	if name == "" {
		return of[0], nil
	}
	for _, v := range of {
		if want := "v" + strings.TrimPrefix(name, "v"); v == want || strings.HasPrefix(v, want+".") {
			return v, nil
		}
	}
	return "", fmt.Errorf("version %q: want one of %s", name, strings.Join(of, ", "))
}

// dirOf is where the module of a component's version is.
func dirOf(name, version string, of []string) string {
	if version == of[0] {
		return "lab/build/" + name
	}
	return versionsDir + name + "-" + version
}

const versionsDir = "lab/build/versions/"

func kubernetes(version string) Component {
	var stamps strings.Builder
	minor := strings.Split(version, ".")[1]
	for _, p := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		fmt.Fprintf(&stamps, " -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=1 -X %[1]s.gitMinor=%[3]s -X %[1]s.gitTreeState=clean", p, version, minor)
	}
	return Component{Name: "kubernetes", Dir: dirOf("kubernetes", version, KubernetesVersions), Package: "tool", LDFlags: stamps.String()}
}

// calicoStamps are the variables that hold Calico's version, of all versions: the linker ignores
// those that a program does not have.
var calicoStamps = []string{
	"pkg/buildinfo.Version", "felix/buildinfo.GitVersion", "node/buildinfo.GitVersion", "node/pkg/lifecycle/startup.VERSION",
	"calicoctl/calicoctl/commands.VERSION", "calicoctl/calicoctl/commands/common.VERSION",
}

func calico(version string) Component {
	stamps := " -X main.VERSION=" + version
	for _, s := range calicoStamps {
		stamps += " -X github.com/projectcalico/calico/" + s + "=" + version
	}
	return Component{
		Name: "calico", Dir: dirOf("calico", version, CalicoVersions), Package: "tool", LDFlags: stamps, Paths: true,
		Rename: map[string]string{"kube-controllers": "calico-kube-controllers"},
		Finish: calicoManifests, Inputs: []string{"lab/build/manifests.go", "lab/build/chart.go"},
	}
}

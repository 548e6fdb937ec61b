package daemon

import (
	"context"
	"path"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

const (
	// versionPatience is how long Calico's plugin may take to report its version.
	versionPatience = 5 * time.Second
	// versionRetry is the pause after an attempt without a result: a busy node may answer later.
	versionRetry = time.Minute
)

// A versionState is what is known of the version of Calico's plugin.
type versionState struct {
	program string    // trace of the program that was last asked
	retry   time.Time // not before; zero if it has reported a known version
	version string    // that it reported
}

// readVersion asks Calico's plugin for its version whenever its program has changed, and
// reports how it finds objects and whether that is certain. The report is for people: the
// plugin asks again when a late DEL arrives.
func (k *daemon) readVersion(ctx context.Context, s *stage, f *cniconf.File) {
	if !s.on {
		k.say(func(r *guard.Report) { r.Version, r.Keyed, r.Doubt = "", "", "" })
		return
	}
	v := &k.install.plugin
	plugin := path.Join(path.Dir(s.program.host), calico)
	is := ""
	if real, err := k.tree.Resolve(plugin); err == nil {
		is = trace(k.tree.Path(real))
	}
	now := k.Now()
	if is != v.program || !v.retry.IsZero() && due(now, v.retry, versionRetry) {
		*v = versionState{program: is}
		if is != "" {
			v.version = k.versionOf(ctx, s, plugin)
		}
		if !guard.KnownVersion(v.version) {
			v.retry = now.Add(versionRetry)
		}
	}
	ipam, err := f.IPAM()
	if err != nil {
		ipam = guard.UnknownIPAM
	}
	k.say(func(r *guard.Report) {
		r.Keyed, r.Doubt = guard.Keyed(calico, ipam, v.version), guard.Doubt(calico, ipam, v.version)
		if r.Version = ""; guard.KnownVersion(v.version) {
			r.Version = v.version
		}
	})
}

// versionOf runs Calico's plugin. The single binary of Calico 3.33 parses -v only if
// CNI_COMMAND is set, and earlier ones ignore it.
func (k *daemon) versionOf(ctx context.Context, s *stage, plugin string) string {
	ctx, stop := context.WithTimeout(ctx, versionPatience)
	defer stop()
	out, _, err := k.onHost(ctx, s, nil, []string{"CNI_COMMAND=" + string(guard.Version)}, plugin, "-v")
	if err != nil {
		return ""
	}
	version := short(string(out))
	return version[:min(len(version), maxVersion)]
}

// maxVersion is the longest version that is reported.
const maxVersion = 64

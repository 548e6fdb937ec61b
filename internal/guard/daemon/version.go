package daemon

import (
	"context"
	"path"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// versionPatience is how long Calico's plugin may take to report its version.
const versionPatience = 5 * time.Second

// versions asks Calico's plugin for its version whenever its program has changed. The
// version is only for the report; the plugin asks again when it matters.
func (k *daemon) versions(ctx context.Context, s *stage) {
	if !s.on {
		return
	}
	plugin := path.Join(path.Dir(s.program.host), calico)
	real, err := k.tree.Resolve(plugin)
	if err != nil {
		return
	}
	is := trace(k.tree.Path(real))
	if is == k.install.asked {
		return
	}
	k.install.asked = is
	ctx, stop := context.WithTimeout(ctx, versionPatience)
	defer stop()
	out, _, err := k.onHost(ctx, s, nil, nil, plugin, "-v")
	version := short(string(out))
	if err != nil || len(version) > maxVersion {
		version = ""
	}
	k.say(func(r *guard.Report) { r.Version = version })
}

// maxVersion is the longest version that is reported.
const maxVersion = 64

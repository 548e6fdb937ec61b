package host

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/moby/sys/mountinfo"

	"plumbline.dev/plumbline/internal/hostfile"
)

// A Point is a mount in the host's own mount namespace.
type Point struct {
	ID     int    `json:"id"` // of the mount, unique while it is mounted
	Target string `json:"target"`
	device string
}

// points reads the mount table of the host's first process completely: an invalid line may
// be the one that matters.
func (h *Host) points() ([]Point, error) {
	b, err := hostfile.Read(h.o.Proc+"/1/mountinfo", maxTable)
	if err != nil {
		return nil, fmt.Errorf("read the host's mount table: %w", err)
	}
	return parsePoints(b)
}

func parsePoints(b []byte) ([]Point, error) {
	infos, err := mountinfo.GetMountsFromReader(bytes.NewReader(b), nil)
	if err != nil {
		return nil, fmt.Errorf("read the host's mount table: %w", err)
	}
	if len(infos) == 0 {
		return nil, errors.New("the host's mount table is empty")
	}
	out := make([]Point, 0, len(infos))
	for _, i := range infos {
		if i.ID <= 0 {
			return nil, fmt.Errorf("read the host's mount table: %s has no device number", i.Mountpoint)
		}
		m := mount{major: i.Major, minor: i.Minor}
		out = append(out, Point{ID: i.ID, Target: i.Mountpoint, device: m.device()})
	}
	return out, nil
}

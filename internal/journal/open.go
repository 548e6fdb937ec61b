package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/repair"
)

// Create creates the journal of a plan. ErrExists: there is one, and it is not changed.
func Create(state, cluster string, p *repair.Plan) (*Journal, error) {
	return restore(state, cluster, p, nil)
}

// restore creates a journal with the entries of a copy: all of them or none.
func restore(state, cluster string, p *repair.Plan, es []repair.Entry) (*Journal, error) {
	dir, err := planDir(state, cluster, p.ID)
	if err == nil && p.Cluster != cluster {
		err = fmt.Errorf("plan %s is for cluster %q, not %q", p.ID, p.Cluster, cluster)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{dir: dir}
	if err := j.create(p, es); err != nil {
		return nil, fmt.Errorf("create journal %s: %w", j.dir, err)
	}
	return j, nil
}

func (j *Journal) create(p *repair.Plan, es []repair.Entry) error {
	raw, h, err := encodePlan(p)
	if err != nil {
		return err
	}
	base := filepath.Dir(j.dir)
	if err := makeDirs(base); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(base, unnamed)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(tmp, logFile), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	err = fill(f, tmp, raw, &h, es)
	if err == nil {
		err = os.Rename(tmp, j.dir)
	}
	if errors.Is(err, os.ErrExist) {
		err = ErrExists
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.RemoveAll(tmp))
	}
	if err := j.load(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// fill writes both files of a directory that still has its temporary name, and syncs them. The log is locked before the rename.
func fill(log *os.File, dir string, plan []byte, h *head, es []repair.Entry) error {
	if err := lock(log); err != nil {
		return err
	}
	all, _, err := frame(0, h)
	if err != nil {
		return err
	}
	for i := range es {
		record, _, err := entryRecord(uint32(i)+1, &es[i])
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if len(all)+len(record) > maxLog {
			return fmt.Errorf("entry %d: more than %d bytes", i, maxLog)
		}
		all = append(all, record...)
	}
	if _, err := log.Write(all); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, planFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(plan)
	return errors.Join(err, f.Sync(), f.Close(), log.Sync(), hostfile.SyncDir(dir))
}

// Open opens the journal of a plan for appending. An incomplete last record, which a crash
// left, is cut off; any other damage is errDamaged.
func Open(state, cluster, plan string) (*Journal, error) {
	dir, err := planDir(state, cluster, plan)
	if err != nil {
		return nil, err
	}
	f, _, err := hostfile.OpenRegular(filepath.Join(dir, logFile), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, notFound("open", dir, plan, err)
	}
	j := &Journal{dir: dir}
	if err = lock(f); err == nil {
		err = j.load(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", dir, err), f.Close())
	}
	return j, nil
}

// load reads the journal and cuts off an incomplete last record. It syncs everything that
// remains: the process that wrote it may have been killed before its sync.
func (j *Journal) load(f *os.File) error {
	c, err := read(j.dir, f)
	if err == nil && c.torn > 0 {
		err = f.Truncate(c.size)
	}
	if err == nil {
		err = errors.Join(f.Sync(), hostfile.SyncDir(j.dir), hostfile.SyncDir(filepath.Dir(j.dir)))
	}
	j.content, j.file = c, f
	return err
}

// Read gives plan and entries without a lock and changes nothing; another process may be
// appending. With an error it returns the entries before the damage.
func Read(state, cluster, plan string) (*repair.Plan, []repair.Entry, error) {
	dir, err := planDir(state, cluster, plan)
	if err != nil {
		return nil, nil, err
	}
	f, _, err := hostfile.OpenRegular(filepath.Join(dir, logFile), os.O_RDONLY)
	if err != nil {
		return nil, nil, notFound("read", dir, plan, err)
	}
	defer f.Close()
	c, err := read(dir, f)
	if err != nil {
		err = fmt.Errorf("read journal %s: %w", dir, err)
	}
	return c.plan, c.entries, err
}

// An absent plan has no journal here. It is fs.ErrNotExist.
type absent string

func (a absent) Error() string {
	return fmt.Sprintf("no plan %s was applied to this cluster from this machine; history lists those that were", string(a))
}

func (absent) Is(target error) bool { return target == fs.ErrNotExist }

// notFound is absent only if nothing of the plan is here: a journal that lost its file is damaged.
func notFound(what, dir, plan string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, here := os.Lstat(dir); errors.Is(here, fs.ErrNotExist) {
			return absent(plan)
		}
		return fmt.Errorf("%s journal %s: %w: %s is missing", what, dir, errDamaged, logFile)
	}
	return fmt.Errorf("%s journal of plan %s: %w", what, plan, err)
}

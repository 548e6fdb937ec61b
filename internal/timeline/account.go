package timeline

import "fmt"

// An Account is what was read and understood of logs, and what was not: nothing is known of the
// rest, so nothing may be concluded from it.
type Account struct {
	Files      int `json:"files"`           // also those that were not read
	Skipped    int `json:"skippedFiles"`    // not read, or not completely
	Lines      int `json:"lines"`           // of all files
	Understood int `json:"understoodLines"` // of a known form and component
	Unknown    int `json:"unknownLines"`    // of no known form

	worst *File // the file with most unknown lines
	gaps  bool
}

// AccountOf counts the files.
func AccountOf(files []File) Account {
	var a Account
	for i := range files {
		f := &files[i]
		a.Files++
		a.Lines, a.Understood, a.Unknown = a.Lines+int(f.Lines), a.Understood+int(f.Understood), a.Unknown+int(f.Unknown)
		if len(f.Left) > 0 {
			a.Skipped++
		}
		if f.Unknown > 0 && (a.worst == nil || f.Unknown > a.worst.Unknown) {
			a.worst = f
		}
		a.gaps = a.gaps || f.foreign()
	}
	return a
}

// foreign reports whether the file is not, or only in part, of components that are known. Every
// program writes some lines without a header, such as a stack trace: those are no tenth.
func (f *File) foreign() bool { return f.Unknown > 0 && f.Unknown*9 >= f.Understood }

// Nothing reports that no line was understood.
func (a *Account) Nothing() bool { return a.Understood == 0 }

// Gaps reports whether a part was not read, or not understood.
func (a *Account) Gaps() bool { return a.Skipped > 0 || a.gaps }

// Says tells in one sentence what was understood.
func (a *Account) Says() string {
	s := fmt.Sprintf("understood %d of %d lines in %s", a.Understood, a.Understood+a.Unknown, files(a.Files))
	if a.Skipped > 0 {
		s += fmt.Sprintf("; %s not read completely", files(a.Skipped))
	}
	return s
}

// Example names a line that was not understood, and what its file may be; empty if there is none.
func (a *Account) Example() string {
	if a.worst == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d (%s): %q", a.worst.Name, a.worst.SampleAt, a.worst.Guess, a.worst.Sample)
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}

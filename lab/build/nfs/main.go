// Command nfs serves an NFS version 3 file system with one file, data, from memory. Stopped by
// SIGSTOP it is a server that no longer answers.
//
//	nfs ADDRESS:PORT
package main

import (
	"fmt"
	"net"
	"os"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"
	"github.com/willscott/go-nfs"
	"github.com/willscott/go-nfs/helpers"
)

// size is more than a node reads ahead, so that reads go to the server.
const size = 16 << 20

const handles = 1024

func run(address string) error {
	fs := memfs.New()
	if err := util.WriteFile(fs, "data", make([]byte, size), 0o644); err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return nfs.Serve(l, helpers.NewCachingHandler(helpers.NewNullAuthHandler(fs), handles))
}

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: nfs ADDRESS:PORT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "nfs:", err)
		os.Exit(1)
	}
}

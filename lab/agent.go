package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"plumbline.dev/plumbline/lab/image"
)

// AgentNamespace is the agents' namespace in the product's manifest.
const AgentNamespace = "plumbline-system"

const (
	agentDaemonSet = "plumbline-agent"
	agentImage     = "plumbline.dev/plumbline-agent"
	agentsTimeout  = 60 * time.Second
)

// InstallAgents installs the program, a static binary, on every node as the product's
// agent, with the product's own manifest, and waits until each node has a ready agent. A
// second call with another binary replaces the agents. Further programs are added to its
// image.
func InstallAgents(ctx context.Context, l *Lab, binary, manifest string, beside ...string) error {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return fmt.Errorf("read the agents' manifest: %w", err)
	}
	ref, err := l.importProgram(ctx, binary, beside)
	if err != nil {
		return err
	}
	doc, err := withImage(string(text), ref)
	if err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	if err := l.Apply(ctx, doc); err != nil {
		return fmt.Errorf("install the agents: %w", err)
	}
	if err := Eventually(ctx, l.Scale(agentsTimeout), l.agentsReady); err != nil {
		return fmt.Errorf("agents: %w%s", err, l.agentsSaid(context.WithoutCancel(ctx)))
	}
	return nil
}

// RemoveAgents deletes the objects of the manifest and waits until they are gone. Files
// that agents have written on their nodes stay.
func RemoveAgents(ctx context.Context, l *Lab, manifest string) error {
	text, err := os.ReadFile(manifest)
	if err != nil {
		return fmt.Errorf("read the agents' manifest: %w", err)
	}
	_, err = l.run(ctx, string(text), l.Bin("kubernetes", "kubectl"), "delete", "--ignore-not-found", "--wait", "--timeout=60s", "-f", "-")
	if err != nil {
		return fmt.Errorf("remove the agents: %w", err)
	}
	return nil
}

// importProgram imports an image of the program on every node. The image is named after
// its content, so that the DaemonSet rolls out another binary as another image.
func (l *Lab) importProgram(ctx context.Context, binary string, beside []string) (ref string, err error) {
	img, err := image.Program("", binary, "serve")
	if err != nil {
		return "", err
	}
	content := sha256.New()
	content.Write(img.Binary)
	for _, file := range beside {
		if err := img.Add(file); err != nil {
			return "", err
		}
		content.Write(img.Beside[filepath.Base(file)])
	}
	img.Ref = fmt.Sprintf("%s:lab-%.6x", agentImage, content.Sum(nil))
	if err := img.Write(agentArchive); err != nil {
		return "", err
	}
	nodes, err := l.RunningNodes(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		if err := n.importAgent(ctx); err != nil {
			return "", fmt.Errorf("import %s on %s: %w", img.Ref, n.Name, err)
		}
	}
	return img.Ref, nil
}

// agentArchive is the agent's image, once agents are installed: a node that is added
// later needs it too.
const agentArchive = stateDir + "/agent.tar"

// importAgent writes the image to the node, which cannot read the lab's files.
func (n *Node) importAgent(ctx context.Context) error {
	b, err := os.ReadFile(agentArchive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if n.IsMachine() {
		return n.ImportImage(ctx, agentArchive)
	}
	const file = "/run/plumbline-agent.tar"
	if err := os.WriteFile(n.Path(file), b, 0o600); err != nil {
		return err
	}
	_, err = n.Ctr(ctx, "images", "import", file)
	return errors.Join(err, os.Remove(n.Path(file)))
}

var agentImageLine = regexp.MustCompile(`(?m)^(\s*image:\s*)"?` + regexp.QuoteMeta(agentImage) + `[:@][^\s"]*"?[ \t]*$`)

// withImage replaces the agent's image by ref in each container.
func withImage(manifest, ref string) (string, error) {
	if !agentImageLine.MatchString(manifest) {
		return "", fmt.Errorf("the manifest does not have the image %s", agentImage)
	}
	return agentImageLine.ReplaceAllString(manifest, "${1}"+ref), nil
}

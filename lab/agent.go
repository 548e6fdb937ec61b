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

// AgentNamespace is where the product's manifest puts the agents.
const AgentNamespace = "plumbline-system"

const (
	agentDaemonSet = "plumbline-agent"
	agentImage     = "plumbline.dev/plumbline-agent"
	agentsTimeout  = 60 * time.Second
)

// InstallAgents puts the program, a static binary, onto every node as the
// product's agent, by the product's own manifest, and waits until each node has
// one that is ready. Doing it again with another binary replaces the agents. Further
// programs are put beside it in its image.
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
	if err := Eventually(ctx, agentsTimeout, l.agentsReady); err != nil {
		return fmt.Errorf("agents: %w%s", err, l.agentsSaid(context.WithoutCancel(ctx)))
	}
	return nil
}

// RemoveAgents takes away what the manifest put in and waits until it is gone.
// What agents have written on their nodes stays there.
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

// importProgram gives every node an image of the program. The image is named
// after its content, so that another binary is another image to the DaemonSet.
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
			return "", fmt.Errorf("give %s to %s: %w", img.Ref, n.Name, err)
		}
	}
	return img.Ref, nil
}

// agentArchive is the agent's image, once there are agents: a node that is added later
// needs it too.
const agentArchive = stateDir + "/agent.tar"

// importAgent writes the image onto the node, which does not see the lab's files.
func (n *Node) importAgent(ctx context.Context) error {
	b, err := os.ReadFile(agentArchive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	const file = "/run/plumbline-agent.tar"
	if err := os.WriteFile(n.Path(file), b, 0o600); err != nil {
		return err
	}
	_, err = n.Ctr(ctx, "images", "import", file)
	return errors.Join(err, os.Remove(n.Path(file)))
}

var agentImageLine = regexp.MustCompile(`(?m)^(\s*image:\s*)"?` + regexp.QuoteMeta(agentImage) + `[:@][^\s"]*"?[ \t]*$`)

// withImage puts ref in the place of the agent's image, of which each container has the same.
func withImage(manifest, ref string) (string, error) {
	if !agentImageLine.MatchString(manifest) {
		return "", fmt.Errorf("the image %s does not stand there", agentImage)
	}
	return agentImageLine.ReplaceAllString(manifest, "${1}"+ref), nil
}

package parse

import "testing"

// containerd 2 writes metadata differently; taken from its source and not recorded by us.
func TestContainerdFormats(t *testing.T) {
	t.Parallel()
	compare(t, []toldCase{
		{"2.x", runtimeLine(`RunPodSandbox for name:"db-0" uid:"`+uid+`" namespace:"shop" returns sandbox id "`+idA+`"`, ""), []string{"containerd: sandbox created pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90"}},
		{"no network", runtimeLine(`RunPodSandbox for &PodSandboxMetadata{Name:db-0,Uid:`+uid+`,Namespace:shop,Attempt:0,} failed, error`, ` error="failed to setup network for sandbox \"`+idA+`\": no"`), []string{
			`containerd: ADD failed pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90 note=failed to setup network for sandbox "` + idA + `": no`,
		}},
		{"cleanup failed", runtimeLine(`Failed to destroy network for sandbox "`+idA+`"`, ` error="no"`), []string{"containerd: DEL failed sandbox=340b1c7a1a90 note=no"}},
		{"remove failed", runtimeLine(`RemovePodSandbox for "`+idA+`" failed`, ` error="busy"`), []string{"containerd: sandbox remove failed sandbox=340b1c7a1a90 note=busy"}},
		{"exit", runtimeLine(`TaskExit event &TaskExit{ContainerID:`+idB+`,ID:`+idB+`,Pid:1,ExitStatus:0,}`, ""), []string{"containerd: container died container=d4186da55842"}},
		{"exit of a command", runtimeLine(`TaskExit event &TaskExit{ContainerID:`+idB+`,ID:`+idA+`,Pid:1,ExitStatus:0,}`, ""), nil},
		{"a call alone", runtimeLine(`StopPodSandbox for "`+idA+`"`, ""), nil},
	})
}

// CRI-O's lines are made of the formats in its source (f954a17e, and ocicni in its vendor
// directory): none was recorded by us.
func TestCRIOFormats(t *testing.T) {
	t.Parallel()
	sandbox := "k8s_POD_db-0_shop_" + uid + "_0"
	compare(t, []toldCase{
		{"ran", runtimeLine(`Ran pod sandbox `+idA+` with infra container: shop/db-0/POD`, " id=x name=/runtime.v1.RuntimeService/RunPodSandbox"), []string{"crio: sandbox created pod=shop/db-0 sandbox=340b1c7a1a90"}},
		{"got", runtimeLine(`Got pod network &{Name:db-0 Namespace:shop ID:`+idA+` UID:`+uid+` NetNS:/var/run/netns/x Networks:[{Name:k8s-pod-network Ifname:eth0}] RuntimeConfig:map[] Aliases:map[]}`, ""), []string{
			"crio: pod seen pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
		}},
		{"adds and deletes", runtimeLine(`Adding pod shop_db-0 to CNI network "k8s-pod-network" (type=calico)`, "") + runtimeLine(`Deleting pod shop_db-0 from CNI network "k8s-pod-network" (type=calico)`, ""), []string{
			"crio: ADD begin pod=shop/db-0", "crio: DEL begin pod=shop/db-0",
		}},
		{"stopped and removed", runtimeLine(`Stopped pod sandbox: `+idA, " id=x") + runtimeLine(`Removed pod sandbox: `+idA, " id=x"), []string{"crio: sandbox stopped sandbox=340b1c7a1a90", "crio: sandbox removed sandbox=340b1c7a1a90"}},
		{"not destroyed", runtimeLine(`Failed to destroy network for pod sandbox `+sandbox+`(`+idA+`): error removing pod shop_db-0 from CNI network "k8s-pod-network": no`, ""), []string{
			`crio: DEL failed pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90 note=Failed to destroy network for pod sandbox ` + sandbox + `(` + idA + `): error removing pod shop_db-0 from CNI network "k8s-pod-network": no`,
		}},
		{"container", runtimeLine("Started container", " PID=1 containerID="+idB+" description=shop/db-0/main id=x sandboxID="+idA) + runtimeLine("Stopped container "+idB+": shop/db-0/main", ""), []string{
			"crio: container started pod=shop/db-0 sandbox=340b1c7a1a90 container=d4186da55842", "crio: container died pod=shop/db-0 sandbox=340b1c7a1a90 container=d4186da55842",
		}},
		{"slow", runtimeLine(`Creation of sandbox `+sandbox+` not yet finished. Currently at stage sandbox network creation. Waiting up to 6m0s for it to finish`, ""), []string{
			"crio: runtime timeout pod=shop/db-0 uid=07cbebe7-7fb note=Creation of sandbox " + sandbox + " not yet finished. Currently at stage sandbox network creation. Waiting up to 6m0s for it to finish",
		}},
		{"not killed", runtimeLine(`Stopping container `+idB+` with stop signal(SIGTERM) timed out. Killing...`, ""), []string{"crio: container kill failed container=d4186da55842 note=Stopping container " + idB + " with stop signal(SIGTERM) timed out. Killing..."}},
		{"only stopping", runtimeLine(`Stopping container: `+idB+` (timeout: 30s)`, ""), nil},
		{"booted", runtimeLine(`Starting CRI-O, version: 1.34.0, git: abc(clean)`, ""), []string{"crio: runtime started note=1.34.0, git: abc(clean)"}},
	})
}

package deploy

import (
	"testing"

	batch "k8s.io/api/batch/v1"
	rbac "k8s.io/api/rbac/v1"
)

// The CronJob's account has the roles of people who read, and its pod is as restricted as a pod can be.
func TestCronJobOnlyReads(t *testing.T) {
	t.Parallel()
	all := objects(t, "cronjob.yaml")
	bound := map[string]string{}
	for _, b := range of[*rbac.ClusterRoleBinding](all) {
		bound[b.RoleRef.Name] = b.Subjects[0].Name
	}
	for _, b := range of[*rbac.RoleBinding](all) {
		bound[b.RoleRef.Name] = b.Subjects[0].Name
	}
	if len(bound) != 2 || bound["plumbline-reader"] != "plumbline-check" || bound["plumbline-user"] != "plumbline-check" {
		t.Errorf("%v", bound)
	}
	jobs := of[*batch.CronJob](all)
	if len(jobs) != 1 {
		t.Fatalf("%d CronJobs", len(jobs))
	}
	pod := jobs[0].Spec.JobTemplate.Spec.Template.Spec
	if s := pod.Containers[0].SecurityContext; pod.ServiceAccountName != "plumbline-check" || !*pod.SecurityContext.RunAsNonRoot || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation {
		t.Errorf("%+v", pod)
	}
	if *jobs[0].Spec.JobTemplate.Spec.BackoffLimit != 0 {
		t.Error("a Job that found something is tried again")
	}
}

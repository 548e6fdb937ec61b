// Package incidents follows docs/incidents.md in the lab, from the symptom to the repaired
// cluster. Only tests are here.
package incidents

package kube

// The field numbers of Kubernetes' messages in protobuf, by the names in the generated.proto of
// k8s.io/api and k8s.io/apimachinery: MESSAGE, Field, FIELD. They never change; tests compare
// with what those libraries encode.
const (
	objectFieldMetadata = 1 // of all objects, and of all lists
	objectFieldSpec     = 2
	objectFieldStatus   = 3
	listFieldItems      = 2

	listMetaFieldResourceVersion = 2
	listMetaFieldContinue        = 3

	metaFieldName              = 1 // ObjectMeta
	metaFieldNamespace         = 3
	metaFieldUID               = 5
	metaFieldResourceVersion   = 6
	metaFieldCreationTimestamp = 8
	metaFieldDeletionTimestamp = 9
	metaFieldLabels            = 11
	metaFieldAnnotations       = 12
	metaFieldOwnerReferences   = 13
	metaFieldFinalizers        = 14
	metaFieldManagedFields     = 17

	ownerFieldKind       = 1 // OwnerReference
	ownerFieldName       = 3
	ownerFieldController = 6

	managedFieldsFieldTime = 4
	timeFieldSeconds       = 1

	mapFieldKey   = 1 // an entry of labels or annotations
	mapFieldValue = 2
)

// Of pods.
const (
	podSpecFieldVolumes     = 1
	podSpecFieldContainers  = 2
	podSpecFieldNodeName    = 10
	podSpecFieldHostNetwork = 11

	podSpecFieldInitContainers = 20
	containerFieldImage        = 2
	containerFieldMounts       = 9
	mountFieldName             = 1
	mountFieldSubPath          = 4
	mountFieldPropagation      = 5
	mountFieldSubPathExpr      = 6
	containerFieldRestart      = 24

	podStatusFieldPhase      = 1
	podStatusFieldConditions = 2
	podStatusFieldPodIP      = 6
	podStatusFieldStartTime  = 7
	podStatusFieldPodIPs     = 12
	podIPFieldIP             = 1

	conditionFieldType               = 1
	conditionFieldStatus             = 2
	conditionFieldLastTransitionTime = 4
	conditionFieldMessage            = 6
)

// Of nodes.
const (
	nodeSpecFieldTaints   = 5
	nodeSpecFieldPodCIDRs = 7
	taintFieldKey         = 1
	taintFieldEffect      = 3

	nodeStatusFieldConditions    = 4
	nodeStatusFieldAddresses     = 5
	nodeStatusFieldNodeInfo      = 7
	nodeAddressFieldType         = 1
	nodeAddressFieldAddress      = 2
	nodeInfoFieldBootID          = 3 // NodeSystemInfo
	nodeInfoFieldOperatingSystem = 9
)

// Of volumes.
const (
	volumeFieldName         = 1
	volumeFieldVolumeSource = 2

	volumeSourceFieldHostPath  = 1
	volumeSourceFieldNFS       = 7
	volumeSourceFieldISCSI     = 8
	volumeSourceFieldGlusterfs = 9
	volumeSourceFieldPVC       = 10 // persistentVolumeClaim
	volumeSourceFieldRBD       = 11
	volumeSourceFieldFlex      = 12 // flexVolume
	volumeSourceFieldCephFS    = 14
	volumeSourceFieldFC        = 17
	volumeSourceFieldAzureFile = 18
	volumeSourceFieldCSI       = 28
	volumeSourceFieldEphemeral = 29

	hostPathFieldPath       = 1
	nfsFieldServer          = 1
	nfsFieldPath            = 2
	iscsiFieldTargetPortal  = 1
	iscsiFieldIQN           = 2
	glusterfsFieldEndpoints = 1
	glusterfsFieldPath      = 2
	pvcFieldClaimName       = 1
	rbdFieldImage           = 2
	rbdFieldPool            = 4
	flexFieldDriver         = 1
	cephFSFieldMonitors     = 1
	cephFSFieldPath         = 2
	fcFieldTargetWWNs       = 1
	fcFieldWWIDs            = 5
	azureFileFieldShareName = 2
	csiFieldDriver          = 1
)

// Of envelopes and of what is answered instead of an object.
const (
	unknownFieldRaw       = 2 // runtime.Unknown: the object in the envelope
	watchEventFieldType   = 1
	watchEventFieldObject = 2
	rawExtensionFieldRaw  = 1

	statusFieldMessage                  = 3
	statusFieldDetails                  = 5
	statusFieldCode                     = 6
	statusDetailsFieldRetryAfterSeconds = 5
)

package v1

import flowcontrolv1 "k8s.io/api/flowcontrol/v1"

// SetDefaults_FlowSchemaSpec puts a schema in the middle.
func SetDefaults_FlowSchemaSpec(spec *flowcontrolv1.FlowSchemaSpec) {
	setDefault(&spec.MatchingPrecedence, 1000)
}

// SetDefaults_ExemptPriorityLevelConfiguration gives the exempt level no seats, of which it lends none.
func SetDefaults_ExemptPriorityLevelConfiguration(exempt *flowcontrolv1.ExemptPriorityLevelConfiguration) {
	setPointer(&exempt.NominalConcurrencyShares, 0)
	setPointer(&exempt.LendablePercent, 0)
}

// SetDefaults_LimitedPriorityLevelConfiguration gives a level 30 shares, of which it lends none.
func SetDefaults_LimitedPriorityLevelConfiguration(limited *flowcontrolv1.LimitedPriorityLevelConfiguration) {
	setPointer(&limited.NominalConcurrencyShares, 30)
	setPointer(&limited.LendablePercent, 0)
}

// SetDefaults_QueuingConfiguration gives a level 64 queues.
func SetDefaults_QueuingConfiguration(queuing *flowcontrolv1.QueuingConfiguration) {
	setDefault(&queuing.HandSize, 8)
	setDefault(&queuing.Queues, 64)
	setDefault(&queuing.QueueLengthLimit, 50)
}

func setDefault(field *int32, value int32) {
	if *field == 0 {
		*field = value
	}
}

func setPointer(field **int32, value int32) {
	if *field == nil {
		*field = &value
	}
}

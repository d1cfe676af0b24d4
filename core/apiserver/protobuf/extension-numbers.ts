/**
 * The protobuf field numbers of two groups whose types upstream keeps beside their servers (apiextensions-apiserver and
 * kube-aggregator of 1.36), in the form of `generated/field-numbers.ts`. Numbers of a released version never change.
 */
export const EXTENSION_NUMBERS = `apiextensions.v1.CustomResourceColumnDefinition|name=1,type=2,format=3,description=4,priority=5,jsonPath=6
apiextensions.v1.CustomResourceConversion|strategy=1,webhook*=2
apiextensions.v1.CustomResourceDefinitionCondition|type=1,status=2,lastTransitionTime=3,reason=4,message=5,observedGeneration=6
apiextensions.v1.CustomResourceDefinitionList|metadata=1,items=2
apiextensions.v1.CustomResourceDefinitionNames|plural=1,singular=2,shortNames=3,kind=4,listKind=5,categories=6
apiextensions.v1.CustomResourceDefinitionSpec|group=1,names=3,scope=4,versions=7,conversion*=9,preserveUnknownFields=10
apiextensions.v1.CustomResourceDefinitionStatus|conditions=1,acceptedNames=2,storedVersions=3,observedGeneration=4
apiextensions.v1.CustomResourceDefinitionVersion|name=1,served=2,storage=3,deprecated=7,deprecationWarning*=8,schema*=4,subresources*=5,additionalPrinterColumns=6,selectableFields=9
apiextensions.v1.CustomResourceDefinition|metadata=1,spec=2,status=3
apiextensions.v1.CustomResourceSubresourceScale|specReplicasPath=1,statusReplicasPath=2,labelSelectorPath*=3
apiextensions.v1.CustomResourceSubresources|status*=1,scale*=2
apiextensions.v1.CustomResourceValidation|openAPIV3Schema*=1
apiextensions.v1.ExternalDocumentation|description=1,url=2
apiextensions.v1.JSONSchemaProps|id=1,$schema=2,$ref*=3,description=4,type=5,format=6,title=7,default*=8,maximum*=9,exclusiveMaximum=10,minimum*=11,exclusiveMinimum=12,maxLength*=13,minLength*=14,pattern=15,maxItems*=16,minItems*=17,uniqueItems=18,multipleOf*=19,enum=20,maxProperties*=21,minProperties*=22,required=23,items*=24,allOf=25,oneOf=26,anyOf=27,not*=28,properties=29,additionalProperties*=30,patternProperties=31,dependencies=32,additionalItems*=33,definitions=34,externalDocs*=35,example*=36,nullable=37,x-kubernetes-preserve-unknown-fields*=38,x-kubernetes-embedded-resource=39,x-kubernetes-int-or-string=40,x-kubernetes-list-map-keys=41,x-kubernetes-list-type*=42,x-kubernetes-map-type*=43,x-kubernetes-validations=44
apiextensions.v1.SelectableField|jsonPath=1
apiextensions.v1.ServiceReference|namespace=1,name=2,path*=3,port*=4
apiextensions.v1.ValidationRule|rule=1,message=2,messageExpression=3,reason*=4,fieldPath=5,optionalOldSelf*=6
apiextensions.v1.WebhookClientConfig|url*=3,service*=1,caBundle=2
apiextensions.v1.WebhookConversion|clientConfig*=2,conversionReviewVersions=3
apiregistration.v1.APIServiceCondition|type=1,status=2,lastTransitionTime=3,reason=4,message=5
apiregistration.v1.APIServiceList|metadata=1,items=2
apiregistration.v1.APIServiceSpec|service*=1,group=2,version=3,insecureSkipTLSVerify=4,caBundle=5,groupPriorityMinimum=7,versionPriority=8
apiregistration.v1.APIServiceStatus|conditions=1
apiregistration.v1.APIService|metadata=1,spec=2,status=3
apiregistration.v1.ServiceReference|namespace=1,name=2,port*=3`;

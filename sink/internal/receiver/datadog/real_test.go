package datadog

import (
	"encoding/base64"
	"testing"

	"tracetax/sink/internal/account"
	"tracetax/sink/internal/samples"
)

// realDatadog are what version 1.68.1 of the agent for Java sent of one call of depth 2.
var realDatadog = map[string]string{
	"mapped": "kZKMp3NlcnZpY2WodHJhY2V0YXikbmFtZdkQdHJhY2UuYW5ub3RhdGlvbqhyZXNvdXJjZdkeTW9uaXRvcmVkQ2xhc3MubW9uaXRvcmVkTWV0aG" +
		"9kqHRyYWNlX2lkzzKiLQh6ca/tp3NwYW5faWTPJDp/lnyDgTSpcGFyZW50X2lkAKVzdGFydM8Y6iyB754mK6hkdXJhdGlvbs4AfJjvpHR5cGXA" +
		"pWVycm9yAKdtZXRyaWNzh9kVX3NhbXBsaW5nX3ByaW9yaXR5X3YxAa1fZGQudG9wX2xldmVsAal0aHJlYWQuaWQeqnByb2Nlc3NfaWTNHaXZH1" +
		"9kZC50cmFjZV9zcGFuX2F0dHJpYnV0ZV9zY2hlbWEArV9kZC5hZ2VudF9wc3LLP/AAAAAAAADZFV9kZC5wcm9maWxpbmcuZW5hYmxlZACkbWV0" +
		"YYupX2RkLnAua3NyoTGoX2RkLnAuZG2iLTGpX2RkLnAudGlk2RA2YjAyMGM1MTAwMDAwMDAwq3RocmVhZC5uYW1lqGNhbGxlci0w2RBfZGQudG" +
		"Fncy5wcm9jZXNz2WBlbnRyeXBvaW50Lm5hbWU6dHJhY2V0YXguY2FsbHRyZWUubWFpbixlbnRyeXBvaW50LnR5cGU6Y2xhc3MsZW50cnlwb2lu" +
		"dC53b3JrZGlyOmluLHN2Yy51c2VyOnRydWXZE19kZC5zZGsub3RscF9leHBvcnSlZmFsc2WobGFuZ3VhZ2WjanZtqnJ1bnRpbWUtaWTZJDdlNz" +
		"VlOThkLWE3NWQtNDk4ZS04OTk4LWZjZGZlZTZlNDgzN69fZGQudHJhY2VyX2hvc3SibWWpY29tcG9uZW50pXRyYWNlr19kZC5pbnRlZ3JhdGlv" +
		"bqV0cmFjZYync2VydmljZah0cmFjZXRheKRuYW1l2RB0cmFjZS5hbm5vdGF0aW9uqHJlc291cmNl2R5Nb25pdG9yZWRDbGFzcy5tb25pdG9yZW" +
		"RNZXRob2SodHJhY2VfaWTPMqItCHpxr+2nc3Bhbl9pZM9BOmZ1LWead6lwYXJlbnRfaWTPJDp/lnyDgTSlc3RhcnTPGOosge+7khaoZHVyYXRp" +
		"b27OAANW9KR0eXBlwKVlcnJvcgCnbWV0cmljc4LZFV9zYW1wbGluZ19wcmlvcml0eV92MQGpdGhyZWFkLmlkHqRtZXRhg6t0aHJlYWQubmFtZa" +
		"hjYWxsZXItMKljb21wb25lbnSldHJhY2WvX2RkLmludGVncmF0aW9upXRyYWNl",
	"listed": "ktwAIKh0cmFjZXRheNkQdHJhY2UuYW5ub3RhdGlvbtkeTW9uaXRvcmVkQ2xhc3MubW9uaXRvcmVkTWV0aG9kqV9kZC5wLmtzcqExqF9kZC5wLm" +
		"Rtoi0xqV9kZC5wLnRpZNkQNmIwMjBjNmMwMDAwMDAwMKt0aHJlYWQubmFtZahjYWxsZXItMNkQX2RkLnRhZ3MucHJvY2Vzc9lgZW50cnlwb2lu" +
		"dC5uYW1lOnRyYWNldGF4LmNhbGx0cmVlLm1haW4sZW50cnlwb2ludC50eXBlOmNsYXNzLGVudHJ5cG9pbnQud29ya2RpcjppbixzdmMudXNlcj" +
		"p0cnVl2RNfZGQuc2RrLm90bHBfZXhwb3J0pWZhbHNlqGxhbmd1YWdlo2p2bapydW50aW1lLWlk2SRkZjQ5MTFlNC00OTFiLTRiYzEtODFlMi0x" +
		"YmNkMDU0Yzc2MTavX2RkLnRyYWNlcl9ob3N0om1lqWNvbXBvbmVudKV0cmFjZa9fZGQuaW50ZWdyYXRpb27ZFV9zYW1wbGluZ19wcmlvcml0eV" +
		"92Ma1fZGQudG9wX2xldmVsqXRocmVhZC5pZKpwcm9jZXNzX2lk2R9fZGQudHJhY2Vfc3Bhbl9hdHRyaWJ1dGVfc2NoZW1hrV9kZC5hZ2VudF9w" +
		"c3LZFV9kZC5wcm9maWxpbmcuZW5hYmxlZKCRkpwAAQLPNL9GTfhDoUfPecm2JDjHeCUAzxjqLIgbf872zgA+gdgAiwMEBQYHCAkKCwwNDg8QER" +
		"ITFBUWFxaHGAEZARoeG80iahwAHcs/8AAAAAAAAB4AH5wAAQLPNL9GTfhDoUfPc8uv0uVvguPPecm2JDjHeCXPGOosiBu5M6rOAAKgswCDCQoV" +
		"FhcWghgBGh4f",
}

func TestWhatDatadogsAgentReallySendsIsCounted(t *testing.T) {
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			message, err := base64.StdEncoding.DecodeString(realDatadog[name])
			if err != nil {
				t.Fatal(err)
			}
			samples.ExpectCount(t, count(2, format.read, message), account.Account{Records: 2, CompleteTrees: 1})
		})
	}
}

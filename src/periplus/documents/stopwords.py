"""The commonest words of some languages: prose is full of them, lists and stuffed pages are not.

Short on purpose: their share is a signal, they are not taken out of anything.
"""

from __future__ import annotations

from typing import Final

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to a in is that for it as was with be by on not he his but at are this have from or had"
        " an they which you one we all were her she there would their if will when who him been has more no"
        " out so up what",
        "de": "der die das und in zu den von mit ist im für auf nicht ein eine dem des sich als auch es an werden"
        " aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur"
        " oder aber vor zur",
        "fr": "de la le et les des en un une du est que dans qui par pour au il sur pas plus ce ne se avec sont son"
        " ou mais aux cette comme on ont nous vous elle être fait leur ses même sans était",
        "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me"
        " si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy",
        "it": "di e il la che in a un per è del non una i le si con da al della sono come dei più ha lo nel alla"
        " anche ma su gli delle se ci o questo nella dal essere era",
        "pt": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem"
        " à seu sua ou ser quando muito há nos já está eu também só pelo pela",
        "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als bij maar door naar uit ze dan"
        " nog wordt over of deze tot je worden heeft hij kan die was",
        "pl": "w i na z do się nie o że to jest za od po jak przez ale dla oraz co ma tym który przy są czy jego"
        " lub może być tak tego już był",
        "sv": "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan"
        " när år hon under också efter eller nu",
        "ru": "и в не на что я с он как это по но они мы все она так его за был от для из или к у же бы вы о ее"
        " только при есть может если",
        "tr": "ve bir bu da de için ile olarak en çok daha gibi olan ne kadar ama sonra var ise her o ya ki mi değil",
        "id": "yang dan di dari untuk dengan pada adalah ini itu tidak dalam akan ke oleh atau juga sebagai bisa ada",
        "fi": "ja on ei se että oli hän mutta ovat kun myös tai mitä sen ole joka kuin niin vain jos",
        "cs": "a v se na je že s z do i o to za by ale jako pro po k jsou od také jeho které nebo být tak co",
        "el": "και το να του η της με που την από για τα στο είναι τον ο θα σε δεν τους στη μια οι ένα",
        "ar": "في من على أن إلى عن التي مع هذا كان لا ما هذه الذي قد كل بين بعد ذلك أو كما لم",
        "hi": "के का की में है और से को पर यह कि एक ने हैं भी इस नहीं तो हो था लिए",
    }.items()
}

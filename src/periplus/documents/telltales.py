"""Words and letters by which languages that are close to each other are told apart.

Detectors weigh runs of letters, which neighbours share: Indonesian and Malay, Bosnian, Croatian and Serbian, Danish and
Norwegian. A reader goes by single words that one of them has and the other has not. Each row names the languages that
write a word, among its group only: *gdje* speaks for Bosnian and Croatian, *sistem* for Bosnian and Serbian, both
together for Bosnian. Aragonese, Interlingue and Limburgish, which the models know badly or not at all, are found by
words of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from typing import Final

_SOUTH_SLAVIC: Final = frozenset({"bs", "hr", "sr"})  # in Latin letters
GROUPS: Final = (
    _SOUTH_SLAVIC,
    frozenset({"id", "ms"}),
    frozenset({"da", "no"}),
    frozenset({"xh", "zu"}),
    frozenset({"bg", "mk", "sr"}),
    frozenset({"hi", "mr", "ne"}),
    frozenset({"as", "bn"}),
    frozenset({"es", "gl", "pt"}),
)
_WORDS: Final = {
    "bs hr": "gdje vrijeme vremena mjesto mjesta uvijek cijeli cijela cijelo prije poslije ovdje riječ riječi promjena"
    " promjene promjenu promijeni promijeniti promijenite zahtjev zahtjeva primjer primjerak primijeni"
    " sljedeći sljedeća sljedeće sljedećeg vidjeti htjeti željeti želite vrijednost vrijednosti mjera mjere"
    " provjeri provjeriti rješenje rječnik mjesec dvije dijete svijet svijeta vrijedi također korištenje dio"
    " niže uspješno ljudi smije pjesma pjesme pjesmu premjesti premjestiti direktorij direktorija direktoriju"
    " posljednji posljednja mijenja mijenjati djelovanje smjer smjera primijenjeno naprijed",
    "bs sr": "sistem sistema sistemu sistemski tačka tačno tačan hiljada hiljade evropa evrope računar računara"
    " računaru ekran ekrana ekranu muzika muzike uslov uslovi šta niko neko štampač štampanje štampaj porodica"
    " vazduh fabrika dozvola dozvole dozvoljeno snimi snimanje dugme lozinka lozinku saradnja nauka voz"
    " univerzitet takođe greška greške grešku lista listu spisak meni izaberi izaberite izabrano izabrane"
    " izbor verzija verzije direktno nalog nalogu naloga podešavanje podešavanja fajl fajla fajlova",
    "hr": "tko netko nitko sustav sustava sustavu sustavski računalo računala računalu zaslon zaslona zaslonu"
    " poslužitelj poslužitelja tijekom glazba glazbe glazbu tisuća tisuće uvjet uvjeti uvjete uvjeta tjedan"
    " tjedna obitelj europa europe europski hrvatska hrvatski hrvatske izvješće tvrtka tvrtke povijest"
    " povijesti zaporka zaporku zaporke spremi spremiti spremanje pohrani pohraniti točka točno točan točke"
    " gumb pisač pisača mrežni uporaba uporabu uporabe rabi rabiti izvedbe unutar nadalje priopćenje"
    " sveučilište siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga"
    " prosinca mapa mapu mape idući vlak zrak znanost pogreška pogreške pogrešku pogreški poveznica poveznice"
    " popis popisa popisu izbornik izbornika izborniku odabir odabira odabrano odaberi odaberite odabrane"
    " odabrani zadano zadana zadane zadani inačica inačice obavijest obavijesti izravno značajka značajke"
    " zadnji umetni umetanje potvrdu rabite uporabi dopuštenje dopuštenja pričekajte",
    "bs": "historija historije sedmica sedmice bosna bosne bosni bosanski bosanska hercegovina hercegovine lahko"
    " općina općine uslovima saopćenje korisničko obavještenje obavještenja podrazumijevano podrazumijevani"
    " podrazumijevana",
    "sr": "gde vreme mesto mesta uvek celi cela celo pre posle ovde reč reči promena promene promenu promeni"
    " promeniti zahtev zahteva primer sledeći sledeća sledeće sledećeg videti hteti želeti vrednost vrednosti"
    " proveri proveriti rešenje rečnik mesec dve dete svet sveta korišćenje deo bezbednost opšti opšta opšte"
    " uspešno srbija srbije srpski fascikla fasciklu datoteku јe је су са који која које овај због није ће"
    " овде где после нису ову овог obaveštenje podrazumevano podrazumevani podrazumevana pesma pesme pesmu"
    " premesti direktorijum direktorijuma direktorijumu poslednji poslednja pregledač sertifikat sertifikata"
    " napred smer menja",
    "id": "bisa karena berkas silakan tampilkan tampilan menampilkan pengaturan hapus menghapus surel sandi pesan"
    " jaringan layar unduh mengunduh berbeda saat mau coba mencoba bahwa kapan informasi nomor jendela tombol"
    " daftar kesalahan galat tanggal musik butuh membutuhkan kebutuhan terjadi uang kantor perusahaan mobil"
    " universitas kamu kau indonesia agustus televisi aktifkan nonaktifkan terhubung server bila bisakah"
    " tetapi tapi apakah ingin mengatur kunci otomatis kota pemerintah presiden hanya saja sangat kita gambar"
    " peladen pratinjau diperbolehkan setelah lainnya ukuran perangkat kolom halaman situs akun pindahkan"
    " bawaan izin ijin ditemukan menemukan mulai umum lokal peringatan bagian kualitas citra seleksi kuas"
    " kurva pengelola penampil keluaran masukan harus memiliki sering sebagian namun koneksi koneksinya diubah"
    " jalankan menjalankan keluar tersedia",
    "ms": "kerana fail fail-fail sila papar paparkan memaparkan paparan tetapan padam memadam emel laluan mesej"
    " rangkaian skrin berbeza mahu cuba mencuba bahawa bila-bila maklumat nombor tetingkap butang senarai"
    " ralat tarikh muzik berlaku wang pejabat syarikat kereta universiti awak malaysia ogos televisyen"
    " hidupkan pelayan apabila ialah daripada sahaja boleh bolehkah kepada perlukan memerlukan keperluan polis"
    " imej muat turun naik guna kerajaan menteri pautan pelbagai pasangkan nyah nyahpasang dibenarkan telefon"
    " selepas lain-lain saiz peranti lajur laman tapak akaun alih alihkan lalai keizinan dijumpai mula am"
    " setempat amaran bahagian kualiti berus lengkung pengurus kerap sambungan laksana melaksanakan capaian"
    " sedia ketika pilihannya gelintar",
    "da": "af blev bliver mig dig sig nogle noget efter meget hvad ud op tilbage uden gennem igen mellem bruger"
    " brugere brugeren bruges brug nu fejl vælg vælge billede billeder sprog besked adgangskode måde give"
    " giver tage tager gøre gør ej samt hvornår hele andre vores jer siger lige således"
    " anvend anvende anvendes opret slet luk kunne opdater hvis tilføj angiv hvorvidt"
    " skrifttype udskriv mapper udføre udført udføres åbn åbne åbnes gem gemme gemt gemmes indstilling"
    " indstillinger vindue ændre ændring ændringer ændret adgang værdi værdien farve farver højre indhold"
    " indholdet ind inden kræver kræves tillad ukendt kendt findes oplysninger netværk netværket tilgængelig"
    " læse læses mindst egenskaber højde markering blandt nogen forsøg fejlede mislykkedes udskrift hvorfra"
    " udvalgte",
    "no": "av ble blir meg deg seg noen noe etter mye hva ut opp tilbake uten gjennom igjen mellom bruker brukere"
    " brukeren brukes bruk nå feil velg velge bilde bilder språk melding passord måte gi gir ta tar gjøre gjør"
    " vårt sier opprett slett lukk skriv ikkje eit ein dei frå vere vert kva"
    " korleis nokon vise oppdater skriver hjelp oppgi dersom utføre utført utføres åpne åpnes lagre lagret"
    " lagres innstilling innstillinger vindu endre endring endringer endret tilgang verdi verdien farge farger"
    " høyre innhold innholdet inn innen krever kreves tillat ukjent kjent finnes opplysninger nettverk"
    " nettverket tilgjengelig lese leses minst egenskaper høyde utvalg utvalget blant tjener tjeneren"
    " mislyktes filnavn velges brukernavn",
    "xh": "ukuba kwaye okanye xa kufuneka ngoku oku njengoko nceda impazamo ayikwazi akunakho kunye igama unga"
    " lwakho umbhalo ufuna ngaba phambi emva ezi ezinye kwi ifayili nayo loku okwangoku fumana ukufumana"
    " ayifumaneki inani ifestile misela khangela uluhlu isiqulatho iimpawu olu inkqubo emveni ngaphambi apha"
    " nokuba ayinako ukwenza kwakunye",
    "zu": "ukuthi futhi noma uma kumele manje lokhu njengoba kanye sicela iphutha khona okuthile kodwa kungani"
    " ungathanda lapho kusuka ngakho yini abantu leli lesi lolu ifayela amafayela isicelo ikheli akukwazi"
    " ngeke isici uhlelo iwindi khombisa thola tholakala ayitholakalanga inombolo ikhasi ukudala ihluleke uhlu"
    " njalo ukusetshenziswa lapha ngaphambili kulo",
    "mk": "со во ги го оваа овој кои кој поради ќе дека бидат вие сте ве дали беше",
    "bg": "във със който която което този тази това към ще бъде",
    "hi": "है हैं का की में से पर और नहीं यह लिए इस करें किया करने हो के ने था आप आपके कोई",
    "mr": "आहे आहेत आणि नाही हे या मध्ये साठी करा केले आपले आपण असे तर नका होते किंवा जर करण्यासाठी हा ही",
    "ne": "छ छन् लाई मा र गर्न गर्नुहोस् हुन्छ भएको तपाईंको यो छैन गर्ने तपाईं वा भने सक्दैन भयो पनि",
    "es": "el los las una del al más es con y pero también son puede usted archivo ",
    "gl": "unha unhas dun dunha nun nunha non pola polo polos polas tamén súa súas máis ó á ficheiro hai estea ata"
    " calquera cando deste desta conexión",
    "pt": "uma umas não são você também à às pelo pela pelos pelas mais sua arquivo foi estão até"
    " qualquer quando em na já só",
}
# Languages that the models know badly or not at all, by words that no other of 90 languages writes in the messages of
# programs they were drawn from.
_UNMODELLED: Final = {
    "an": "achustar achuste adchunto adchuntos adhibir adreza adrezas alcorce alzau amortar amostrar amostrau"
    " amplaria amuestra antis anvista anyo anyos atros autoridat calandario calidat cambeo cambeos cancelau"
    " capitero caracters certificau cheneral chestionar chunto ciudat completau compreba comprebar conexions"
    " connectau conteniu continar contién creyar creyau cucha cucho d'adrezas d'as d'ista d'iste d'o d'os dengún"
    " dentrada desconnectau desconoixiu destín difuera dimpués disponibilidat diya diyas dreito encetar enta"
    " escayecimiento estau esviellar fallau fichers filtrau fuent fuents grandaria imachen imachens imprentar"
    " istas istos ixa ixos l'adreza l'anvista leyer leyiu luenga mensache mensaches menuto menutos meyo"
    " modificau muit ninviar ninviau nomás orichinal pachina pachinas preba prebar predeterminau premite"
    " premitir prencipal presonal presonalizau presonals prioridat propiedatz puet puetz qualsiquier quefer"
    " quefers quier quiers rechistro recientment refirmo remerar seguntes seleccionau seleccionaus siguient"
    " siguients sinyar sinyatura tarcheta teclau titol trobau tuyas tuyos ubierto ubrir unatra unatro unidat"
    " unidatz usau velocidat veyer vinclo vinient vuedar zaguer zaguera zarrar zarrau zifrau",
    "ie": "actiones adjunter adminim alquel annu aparate aparates aperter apertet applicationes apu apuntator"
    " automaticmen besona besonat butones chascun chinesi ciffrat cluder clúder comensa computator conexer"
    " contenete contrasigne contrasignes correcter deleter denov detaillat dextri directmen elementes esque"
    " esset evenimentes exactmen fenestre fenestres fólder fólderes gerentie grandore irrevocabilmen levul"
    " ligament ligamentes lontan mensu metter missage missages modificationes monstrat movet mustre nequande"
    " numeró nómine nómines númere omisser omni permanentmen permisser permisset permissiones ples posset"
    " preferenties printar printator proprietá proprietás providet págine págines qualitá quande recentis"
    " recentmen reciver remane renominat secun secur securitá selecter selectet semane semanes sequent serchar"
    " simultanmen sincronisar solmen statu substituet successat successosimen ti-ci trovat témpor usatores"
    " vacuar vacui velocitá vicear volúmine ínconosset ínvalid órdine",
    "li": "aaf aafbiljing aafdrökke aangegaeve aangepas aangezat achtergróndj aeve angere auwer baove bekieke"
    " besjikbare besjtandj besjtandjsnaam besjtenj bevundj bewaege bewirke blaadwiezer blaadwiezers d'n datem"
    " dialoogvinster drökke dènkelik eigesjappe euver eweg faeler gaeve gaon gebroek gebroeke gein genóg"
    " geselekteerd geteikend geuf gevónje gruutde gróp haet huijige hujige huugde höbbe höbt ierdet iers ierste"
    " infermasie ingedrök inhaud insjtèlle kelóm kelómme knóp knóppe kopiëre kump kèn kènne kèns kènt laeg laeze"
    " lokasie maog mislök mäögelik naekste naeve neet noets nuuj nöl oet opsjlaon randj rechs ruumde róntelóm"
    " sjirm sjleutel sjloete sjpraok sjrieve sjtanderd sjtatusbalk sjteit sjtiel sjtop tabblaad teike teikene"
    " tiedelik toegesjtange toesjtandj toesjtaon toeveuge twie tösje ummer veldj veranger verangerd verangere"
    " verbónje verkierd verkierde verplaatse versjiene versjient verwiezing verzeuk veur veurige vinster"
    " vinsters vènje waat wachwaord waeg waer waerd waerde waere waor weurt wieväöl wieväölheid wirk wirkbalk"
    " woemit wèb zeen zeuk zeuke zichbaar zèt zónger äöpene ènj óm ónbekènd óngedaon óngeljig óngeljige ónger"
    " óngerwerp ónthaud óntvink",
}
_LETTERS: Final = {
    "mk": "ѓќѕ", "sr": "ђћ", "bg": "ъщяюйь", "mk sr": "јљњџ", "mr": "ळ", "as": "ৰৱ", "bn": "র", "pt": "ãõ",
    "es gl": "ñ",
}  # fmt: skip
_WORD: Final = re.compile(r"[^\W\d_](?:[\w\u0900-\u0dff'-]*[\w\u0900-\u0dff])?")
_SPARSE: Final = 12  # words among which one must be a language's own
_TAKEN_FOR: Final = frozenset({"", "af", "ca", "en", "es", "fr", "fy", "gl", "ia", "it", "la", "nl", "oc", "pt", "rm"})
_MARGIN: Final = 2  # times as many telltales as the next one


def _table(rows: dict[str, str], split: bool) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for languages, items in rows.items():
        for item in items.split() if split else items:
            found[item] = (*found.get(item, ()), *languages.split())
    return found


_BY_WORD: Final = _table(_WORDS, split=True)
_BY_LETTER: Final = _table(_LETTERS, split=False)
_BY_OWN_WORD: Final = {word: language for language, words in _UNMODELLED.items() for word in words.split()}


def has_neighbours(language: str) -> bool:
    """Whether a language has neighbours that it is taken for."""
    return any(language in group for group in GROUPS)


def are_neighbours(one: str, other: str) -> bool:
    """Whether two languages are taken for each other."""
    return any(one in group and other in group for group in GROUPS)


def only_words_tell(one: str, other: str) -> bool:
    """Whether runs of letters say nothing about which of two languages a text is in."""
    return one in _SOUTH_SLAVIC and other in _SOUTH_SLAVIC


def told(sample: str, *suspects: str) -> str:
    """The language of a text among the suspects and their neighbours; empty where words and letters do not tell."""
    group = frozenset(chain.from_iterable(group for group in GROUPS for suspect in suspects if suspect in group))
    lowered = sample.lower()
    counts: Counter[str] = Counter()
    for word in _WORD.findall(lowered):
        counts.update(_BY_WORD.get(word, ()))
    for letter in set(lowered) & _BY_LETTER.keys():
        counts.update(_BY_LETTER[letter])
    ranked = [(times, language) for language, times in counts.items() if language in group]
    ranked.sort(reverse=True)
    if not ranked:
        return ""
    most, language = ranked[0]
    next_most = ranked[1][0] if len(ranked) > 1 else 0
    clear = most > next_most if language in suspects else most >= _MARGIN * max(1, next_most)
    return language if clear else ""


def unmodelled(sample: str, found: str) -> str:
    """What the detectors found, or the language that they do not know well and whose own words a text has.

    One such word names the language of a text that nobody could tell; an opinion gives way to two.
    """
    if found not in _TAKEN_FOR:
        return found
    words = _WORD.findall(sample.lower())
    own = [word for word in words if word in _BY_OWN_WORD]
    languages = {_BY_OWN_WORD[word] for word in own}
    enough = len(set(own)) >= (2 if found else 1) and len(own) * _SPARSE >= len(words)
    return languages.pop() if enough and len(languages) == 1 else found

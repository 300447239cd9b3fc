"""Words that tell little or nothing of what a text is about.

Pure data. Grammar is left out of everything (``NO_CONTENT``: English, and the commonest of German, French and
Spanish, but for those that are technical words in English); what prompts ask to be done, and what people say in
passing, stays but weighs little (``light_words``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from persist.recall.stems import stem

GRAMMAR: Final = frozenset(
    """
    a about above after again against all also although am an and any are aren as at be because been before being
    below between both but by can cannot cant could couldn did didn do does doesn doing don dont down during each
    few for from further had hadn has hasn have haven having he her here hers herself him himself his how i if im in
    into is isn it its itself ive just ll may me might more most must mustn my myself needn no nor not now of off on
    once only onto or other our ours ourselves out over own per re same shall shan she should shouldn since so some
    such than that the their theirs them themselves then there these they this those though through till to too
    under unless until up upon us ve very via vs was wasn we were weren what whatever when whenever where wherever
    which whichever while who whoever whom whose why will with within without won would wouldn you your yours
    yourself yourselves

    aber alle allem allen aller alles als also andere anderen auch auf aus bei beim bin bis bist bitte da dabei
    dafur damit danach dann daran darauf daraus darf darin das dass dein deine dem den denn der des deshalb dich die
    dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einfach er es
    etwas euch euer fur ganz geht gerade gern gibt habe haben hast hat hatte hatten hier hin hinter ich ihm ihn
    ihnen ihr ihre ihrem ihren immer ist ja jede jedem jeden jeder jedes jetzt kann kannst kein keine keinen keiner
    konnen konnte mach mache machen macht mal man manche mehr mein meine meinem meinen meiner mich mir mit muss
    mussen musst nach nachdem nein nicht nichts nie noch nun nur ob oben oder ohne schon sehr sein seine seinem
    seinen seiner seit sich sie sind so sogar soll sollen sollte sondern sonst sowie uber um und uns unser unsere
    unseren unter viel viele vom von vor wann war waren warum was weil welche welchem welchen welcher welches wenn
    wer werde werden wie wieder wieso will willst wir wird wirst wo wobei wohl worden wurde wurden zu zum zur zwar
    zwischen

    au aux avec ce ces cet cette ceux chez dans depuis des donc du elle elles en entre est et etaient etait ete etre
    eux fait faut il ils je la le les leur leurs lui mais mes moi ne ni nos notre nous ont ou par parce pas peut
    peux pourquoi quand que quel quelle quelles quels qui quoi sa sans ses si sont sous suis sur ta te tes toi tous
    tout toute toutes tres tu un une veux vos votre vous

    al algo algun alguna ante antes asi aun como con cual cuando de del desde donde dos el ella ellas ellos era eran
    eres esa esas ese eso esos esta estaba estan estas este esto estos hacer hasta hay las lo los mas mi mis mucho
    muy nada nos nosotros nuestra nuestro otra otro para pero poco por porque pues puede puedo quien se sea ser sido
    sin sobre solo son soy su sus tambien tan tiene tienen todo todos una uno unos ya yo
    """.split()
)
"""Words that join others, in four languages: they say nothing, wherever they stand."""
NO_CONTENT: Final = GRAMMAR | frozenset(
    """
    ago almost alone along already always among another anybody anyone anything anyway anyways around aside away
    back became become becomes behind besides beyond came come comes coming done either else enough especially etc
    even ever every everybody everyone everything everywhere except forth furthermore get gets getting give gives
    given goes going gone gonna got gotta happen happened happens hardly hence hi however indeed inside instead keep
    kept kind kinda know known knows last lately later least less lest let lets like likely lot lots made mainly
    make makes making many maybe mean means meant meanwhile mine moreover mostly much near nearly need needed needs
    neither never nevertheless nobody none nonetheless nothing nowhere often oh ok okay one ones others otherwise
    ought perhaps please possible possibly pretty probably quite rather really regarding said saw say saying says
    see seem seemed seems seen several somebody somehow someone something sometime sometimes somewhat somewhere soon
    still sure take taken takes taking tell thank thanks thereby therefore thing things think thinking thought
    throughout thus together took toward towards truly try trying ugh um unlike use used uses using usual usually
    want wanna wanted wants way ways well went whereas whether whole wonder wondering yeah yes yep yet yup
    """.split()
)
"""Compared as written, in small letters and without accents, before stems."""

_LIGHT: Final = """
    actual add adding adjust advice afternoon ahead allow amazing answer apply approach argument array ask attempt
    awesome bad begin best better big bit bring build bump call careful carry case change check class clean clear
    code column complete config consider continue cool correct couple create current currently cut data day debug
    delete describe detail difference different discuss easy edit element end ensure exact example excellent execute
    expect explain extra fail failed fails fast field file find fine finish first fix folder folks follow forget
    found free full function generate go good great guy handle hard hello help hey high hold honestly hour idea
    implement important improve include input interesting introduce issue item job kindly large leave left lgtm line
    list little live load long look looks lunch manage match matter meeting merge method minute modify moment month
    morning move multiple name new next nice nicely night note nothing number object old open option order output
    overall page parameter part perfect perform person piece place plan point practice previous print problem
    proceed process produce program project proper provide pull put question quick read ready real reason recent
    redo refactor reindent remember remind remove rename reorder repeat replace reply report request require rest
    result return review rewrite right row run running save second section send separate set share ship short show
    simple simplify single small solution solve sort special specific split start state step stop store string stuff
    suggest summary super support switch system table talk task team test text tidy time today together tomorrow top
    total touch turn two type understand undo update user usually value variable version view wait walk watch week
    wish word work works write wrong year yesterday

    andern andere anlegen anpassen beheben danke datei einbauen erklar erstelle erstellen fehler finde funktioniert
    fuge gut heute hinzufugen klar klingt korrigiere lass laufen losche mochte morgen neu neue neuen neuer passt
    prima prufe schau schnell schreib schreibe starte super teste toll umbenennen verbessere weiter zeig zeige

    changelog readme

    gracias merci bonjour hola fichier archivo ajoute corrige
"""


@lru_cache(maxsize=1)
def light_words() -> frozenset[str]:
    """Return the light words, as the words of texts are made of them."""
    return frozenset(word if len(word) <= 3 else stem(word) for word in _LIGHT.split())


FILE_ENDINGS: Final = frozenset(
    """
    bak bat bin c cc cfg cjs conf cpp cs css csv db doc docx env exe gif go gz h hpp htm html ini ipynb java jpeg jpg js
    json jsonl jsx kt lock log lua md mdx mjs php pdf png po ps1 py pyc pyi rb rs rst sass scss sh sql sqlite svg swift
    tar toml ts tsv tsx txt vue webp xls xlsx xml yaml yml zip
    com dev io net org
    """.split()
)
"""What stands behind the last dot of a file's or a host's name, and weighs little there."""

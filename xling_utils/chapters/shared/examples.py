"""Sentences that the book quotes: written for it, or said by the controlled world; never lines of real data."""

from __future__ import annotations

from collections.abc import Sequence

from xling_utils.corpora import parallel

WRITTEN = {
    "en": ("The girl reads a book in the garden.", "My brother works in a big city and has little time."),
    "fr": ("La fille lit un livre dans le jardin.", "Mon frère travaille dans une grande ville et a peu de temps."),
    "es": ("La niña lee un libro en el jardín.", "Mi hermano trabaja en una gran ciudad y tiene poco tiempo."),
    "de": ("Das Mädchen liest ein Buch im Garten.", "Mein Bruder arbeitet in einer großen Stadt und hat wenig Zeit."),
    "el": ("Το κορίτσι διαβάζει ένα βιβλίο στον κήπο.", "Ο αδελφός μου εργάζεται σε μεγάλη πόλη και έχει λίγο χρόνο."),
    "bg": ("Момичето чете книга в градината.", "Брат ми работи в голям град и има малко време."),
    "ru": ("Девочка читает книгу в саду.", "Мой брат работает в большом городе, и у него мало времени."),
    "tr": ("Kız bahçede bir kitap okuyor.", "Kardeşim büyük bir şehirde çalışıyor ve az zamanı var."),
    "ar": ("تقرأ الفتاة كتابا في الحديقة.", "يعمل أخي في مدينة كبيرة ولديه وقت قليل."),
    "vi": ("Cô bé đọc một cuốn sách trong vườn.", "Anh trai tôi làm việc ở một thành phố lớn và có ít thời gian."),
    "th": ("เด็กหญิงอ่านหนังสือในสวน", "พี่ชายของฉันทำงานในเมืองใหญ่และมีเวลาน้อย"),
    "zh": ("女孩在花园里看书。", "我哥哥在一个大城市工作，时间很少。"),
    "hi": ("लड़की बगीचे में एक किताब पढ़ती है।", "मेरा भाई एक बड़े शहर में काम करता है और उसके पास कम समय है।"),
    "sw": ("Msichana anasoma kitabu bustanini.", "Kaka yangu anafanya kazi katika mji mkubwa na ana muda mchache."),
    "ur": ("لڑکی باغ میں ایک کتاب پڑھتی ہے۔", "میرا بھائی ایک بڑے شہر میں کام کرتا ہے اور اس کے پاس کم وقت ہے۔"),
}  # fmt: skip
"""Language -> sentences, each of which says the same in all languages."""
SPOKEN = 3
"""Sentences of the controlled world that are quoted."""


def sentences(source: str, languages: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Sentences for each of ``languages`` that there are any for, row by row the same: the controlled world's, for
    encoders that know no other, or those written for the book."""
    if source == "controlled":
        said = parallel.multiway(source, languages, SPOKEN)
        return {language: tuple(lines) for language, lines in said.items()}
    return {language: WRITTEN[language] for language in languages if language in WRITTEN}

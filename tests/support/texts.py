"""A sentence or two in many languages."""

RUSSIAN = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему.\n"

# The first article of the Universal Declaration of Human Rights, and what comes close to it.
TEXTS = {
    "english": "It was a naïve idea – “let us meet at the café” – and nobody minded.\n",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren; größer ist schöner.\n",
    "french": "Les élèves étudient à l'école. Où êtes-vous allés cet été ? Nous fûmes déçus.\n",
    "spanish": "Todos los seres humanos nacen libres en dignidad y derechos. ¿Mañana? ¡Sí, señor, también!\n",
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.\n",
    "czech": "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv.\n",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő jogokkal. Az őszi est hűvös.\n",
    "romanian": "Toate fiinţele umane se nasc libere şi egale în demnitate. Ele sînt cu raţiune.\n",
    "russian": "Все счастливые семьи похожи друг на друга, каждая несчастливая семья по-своему.\n",
    "bulgarian": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум.\n",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.\n",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl sahibidirler.\n",
    "hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון.\n",
    "arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا.\n",
    "lithuanian": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas.\n",
    "thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ\n",
    "simplified": "道可道，非常道。名可名，非常名。无名天地之始；有名万物之母。\n",
    "traditional": "道可道，非常道。名可名，非常名。無名天地之始；有名萬物之母。\n",
    "japanese": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n",
    "korean": "모든 국민은 인간으로서의 존엄과 가치를 가지며, 행복을 추구할 권리를 가진다.\n",
    "emoji": "A 🎉 stands outside the basic plane, and so does 𝄞.\n",
}

TRAVELLER = "a traveller came home late one night, hung up his wet coat, lit the lamp and sat down. " * 12
